import type { SignedFields } from '@payment-service/core';
import * as z from 'zod';
import type { Misbehaviour } from '../state/misbehaviour.ts';
import type { DeliveryRecord, Signing, TransactionRecord } from '../state/records.ts';
import { callbackData } from './callback-data.ts';
import { type CallbackContent, misbehavioursIn } from './misbehaviours.ts';
import { type Signer, signedFieldsOf } from './signer.ts';

/** What a callback says, and how it is signed. */
export type Content = Pick<DeliveryRecord, 'body' | 'signature' | 'signed' | 'signing'>;

const genuineSigning: Signing = { key: 'account', offsetSeconds: 0, unit: null };

/** The callback of a transaction as the service would send it now. */
export function genuineContent(transaction: TransactionRecord, sign: Signer, now: number): Content {
  const data = callbackData(transaction);
  const signed = signedFieldsOf(data);
  return { body: JSON.stringify(data), signed, signing: genuineSigning, signature: sign(signed, now) };
}

/**
 * A callback with changes on purpose. Signed anew, a body without five signed strings (one was omitted, or it is not JSON)
 * carries the signature of what it was made from: there is nothing else to sign.
 */
export function changedContent(
  transaction: TransactionRecord,
  base: Content,
  changes: Misbehaviour,
  sign: Signer,
  now: number,
): Content {
  const body = changedBody(transaction, base.body, changes);
  const isKept = changes.signature === 'keep';
  const signings = misbehavioursIn(changes).flatMap(({ signing }) => signing ?? []);
  if (isKept && signings.length === 0) return { ...base, body };
  const signed = isKept ? base.signed : (readSignedFields(body) ?? base.signed);
  const start = isKept ? { ...genuineSigning, key: base.signing.key } : genuineSigning;
  const signing = signings.reduce((made, change) => change(made, changes), start);
  return { body, signed, signing, signature: sign(signed, now, signing) };
}

function changedBody(transaction: TransactionRecord, base: string, changes: Misbehaviour): string {
  const found = misbehavioursIn(changes);
  const [whole] = found.flatMap(({ body }) => body?.(changes) ?? []);
  if (whole !== undefined) return whole;
  if (!found.some(({ content, omitted }) => content ?? omitted)) return base;
  const { event, payload } = found.reduce<CallbackContent>(
    (data, { content }) => content?.(data, changes, transaction) ?? data,
    readCallback(base) ?? callbackData(transaction),
  );
  const omitted = found.flatMap((one) => one.omitted?.(changes) ?? []);
  const left = Object.entries(payload).filter(([name]) => !omitted.includes(name));
  return JSON.stringify({
    ...(omitted.includes('event') ? {} : { event }),
    payload: Object.fromEntries(left),
  });
}

const looseData = z.looseObject({ event: z.unknown(), payload: z.record(z.string(), z.unknown()) });
const text = z.string().refine((value) => value.isWellFormed());
const signedData = z.object({
  event: text,
  payload: z.object({
    merchant_reference: text,
    internal_reference: text,
    transaction_type: text,
    transaction_status: text,
  }),
});

function readSignedFields(body: string): SignedFields | undefined {
  const { data } = signedData.safeParse(readJson(body));
  return data && signedFieldsOf(data);
}

/** A body with a payload, whatever is in it; undefined for any other. */
export function readCallback(body: string): CallbackContent | undefined {
  return looseData.safeParse(readJson(body)).data;
}

/** The value of a JSON text; undefined for anything else, which an edited body may be. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
