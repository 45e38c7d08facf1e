import type { SignedFields } from '@payment-service/core';
import { readSignedFields } from '@payment-service/core/internal';
import { asObject, readJson } from '../state/fields.ts';
import type { Misbehaviour } from '../state/misbehaviour.ts';
import type { DeliveryRecord, Signing, TransactionRecord } from '../state/records.ts';
import { callbackData, type Signer, signedFieldsOf } from './callback-data.ts';
import { type CallbackContent, misbehavioursIn } from './misbehaviours.ts';

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
  const signed = isKept ? base.signed : (signedIn(body) ?? base.signed);
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

/** A body with a payload, whatever is in it; undefined for any other. */
export function readCallback(body: string): CallbackContent | undefined {
  const data = asObject(readJson(body));
  const payload = asObject(data?.['payload']);
  return payload && { event: data?.['event'], payload };
}

function signedIn(body: string): SignedFields | undefined {
  const data = readCallback(body);
  return data && readSignedFields((name) => (name === 'event' ? data.event : data.payload[name]));
}
