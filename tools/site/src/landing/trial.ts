/** The trial on the landing page: core's own verifier and `assertAmount()`, on a callback that the reader changes. */
import { AmountMismatchError, assertAmount, createVerifier } from '@payment-service/core';
import { sampleCallback, signCallback } from '@payment-service/core/testing';

/** The two fields that the reader can change, as strings: what is typed is what is verified. */
export interface Changes {
  readonly merchant_reference: string;
  readonly transaction_amount: string;
}

export interface Line {
  readonly name: string;
  /** As JSON. */
  readonly value: string;
  readonly isSigned: boolean;
}

export interface Verdict {
  readonly isVerified: boolean;
  readonly isPaid: boolean;
  readonly signature: string;
  readonly amount: string;
}

export const UNCHANGED: Changes = { merchant_reference: 'ORD-1001', transaction_amount: '500' };
const ORDER = { currency: 'UGX', amount: '500' };
const signingKey = 'LANDING4SIGNING4KEY';
const { event, payload } = sampleCallback();
/** Made once, as by the service. No change gets a new one. */
export const signature: string = signCallback({
  signingKey,
  data: { event, payload },
  timestamp: 1_767_225_600,
});
const verifier = createVerifier({ signingKey });
const genuine = verifier.verifyCallback({ signature, body: { event, payload } });
const signedNames = genuine.ok ? Object.keys(genuine.signed) : [];

/** The lines of the callback's JSON: the event, then the fields of the payload. */
export function callbackLines(changes: Changes): readonly Line[] {
  return Object.entries({ event, ...payload }).map(([name, value]) => ({
    name,
    value:
      name === 'transaction_amount'
        ? changes[name]
        : JSON.stringify(name === 'merchant_reference' ? changes[name] : value),
    isSigned: signedNames.includes(name),
  }));
}

export function verdictOn(changes: Changes): Verdict {
  const [first, ...inner] = callbackLines(changes).map(({ name, value }) => `"${name}":${value}`);
  const body = `{${first},"payload":{${inner.join()}}}`;
  const result = verifier.verifyCallback({ signature, body });
  if (!result.ok) {
    const refused = `Refused: ${result.code}. ${result.hint}`;
    return { isVerified: false, isPaid: false, signature: refused, amount: 'Not compared.' };
  }
  const verified = { isVerified: true, signature: 'Verified.' };
  try {
    const { currency, amount } = assertAmount(result, ORDER);
    return { ...verified, isPaid: true, amount: `Paid: ${currency} ${amount}.` };
  } catch (error) {
    if (!(error instanceof AmountMismatchError)) throw error;
    return { ...verified, isPaid: false, amount: `Refused: ${error.code}. ${error.message}` };
  }
}
