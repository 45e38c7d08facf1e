import {
  type AuthenticRefusal,
  createVerifier,
  type Evidence,
  type TransactionCallback,
  type TransactionPayload,
  type VerifiedCallback,
} from '@payment-service/core';
import { proofOf } from '@payment-service/core/internal';
import { type BodySource, receiveCallback } from '@payment-service/core/receive';
import { sampleCallback, signCallback } from '@payment-service/core/testing';

export const SIGNING_KEY = 'TESTKEYOFTHEINBOX0';

/** Also what a sender must not send. */
export type Payload = Readonly<Record<string, unknown>>;

export interface CallbackText {
  readonly event?: string;
  /** Changes the JSON text after it was signed: the signed fields must stay. */
  readonly rewrite?: (text: string) => string;
  /** The field that may hold a ':'. */
  readonly colonIn?: 'merchant_reference' | 'internal_reference';
  /** A body parser has read it before. */
  readonly isParsed?: boolean;
  /** The options of the verifier. */
  readonly account?: string | undefined;
}

/** The signature and the body of a callback, as they arrive over the wire. */
export function signedText(
  payload: Payload = {},
  { event, rewrite = (text) => text }: CallbackText = {},
): { signature: string; body: string } {
  const data = sample(payload, event);
  return { signature: signCallback({ signingKey: SIGNING_KEY, data }), body: rewrite(JSON.stringify(data)) };
}

/** Posts the bytes of a callback, like an adapter; returns the status of the response. */
export async function post(
  receiver: Parameters<typeof receiveCallback>[1],
  { signature, body }: ReturnType<typeof signedText>,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const all = new Map(Object.entries({ 'hmac-signature': signature, ...headers }));
  const read: BodySource = ({ chunk, end }) => {
    chunk(Buffer.from(body));
    end();
    return () => undefined;
  };
  const request = { method: 'POST', header: (name: string) => all.get(name) };
  const { reply } = await receiveCallback({ ...request, body: { state: 'unread', read } }, receiver);
  return reply?.status;
}

function sample(payload: Payload, event?: string): TransactionCallback {
  return sampleCallback({ ...(event && { event }), payload: payload as Partial<TransactionPayload> });
}

/** A verified callback, with the sample's fields unless others are given. */
export function callback(payload: Payload = {}, text: CallbackText = {}): VerifiedCallback {
  const { signature, body } = signedText(payload, text);
  const { colonIn, account, isParsed = false } = text;
  // Required with ':' in the other reference: it tells which of the possible splits is meant.
  const isMerchantReference =
    colonIn === 'internal_reference'
      ? (reference: string) => reference === payload['merchant_reference']
      : undefined;
  const verifier = createVerifier({ signingKey: SIGNING_KEY, colonIn, isMerchantReference, account });
  const result = verifier.verifyCallback({
    signature,
    body: isParsed ? JSON.parse(body) : Buffer.from(body),
  });
  if (!result.ok) throw new Error(`The test's callback was refused: ${result.code}`);
  return result;
}

/** The value of `hmac-signature` that it was verified with. */
export function signatureOf(verified: VerifiedCallback | Evidence): string {
  const proof = proofOf(verified);
  if (proof === undefined) throw new Error('The test wanted a verified callback.');
  return proof.signature;
}

/** A callback with this amount in both of its amounts. */
export function paid(
  reference: string,
  amount: number,
  payload: Payload = {},
  text: CallbackText = {},
): VerifiedCallback {
  const amounts = { request_amount: amount, transaction_amount: amount };
  return callback(
    { merchant_reference: reference, internal_reference: `INT-${reference}`, ...amounts, ...payload },
    text,
  );
}

/** What a rule refused although its signature is valid: because of an extra ':', or the tolerance. */
export function evidence(
  rule: 'ambiguous' | 'timestamp_out_of_tolerance',
  payload: Payload = {},
  account?: string,
): AuthenticRefusal {
  const ambiguous = rule === 'ambiguous' ? { merchant_reference: 'ORD:1001' } : {};
  const data = sample({ ...ambiguous, ...payload });
  const signature = signCallback({ signingKey: SIGNING_KEY, data, timestamp: 1_000_000_000 });
  const toleranceSeconds = rule === 'ambiguous' ? undefined : 30;
  const result = createVerifier({ signingKey: SIGNING_KEY, toleranceSeconds, account }).verifyCallback({
    signature,
    body: JSON.stringify(data),
  });
  if (result.ok || !result.authentic) throw new Error('The test wanted an authentic refusal.');
  return result;
}
