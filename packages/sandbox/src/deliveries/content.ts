import type { SignedFields } from '@payment-service/core';
import * as z from 'zod';
import type { Misbehaviour } from '../state/misbehaviour.ts';
import { exactAmount, rescale, toAmount } from '../state/money.ts';
import type { DeliveryRecord, Signing, TransactionRecord } from '../state/records.ts';
import { callbackData } from './callback-data.ts';
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
  const { t_offset_seconds, t_unit, bad_signature } = changes;
  const isKept = changes.signature === 'keep';
  if (isKept && t_offset_seconds === undefined && t_unit === undefined && bad_signature === undefined) {
    return { ...base, body };
  }
  const signed = isKept ? base.signed : (readSignedFields(body) ?? base.signed);
  const signing: Signing = {
    key: bad_signature ? 'other' : isKept && bad_signature === undefined ? base.signing.key : 'account',
    offsetSeconds: t_offset_seconds ?? 0,
    unit: t_unit ?? null,
  };
  return { body, signed, signing, signature: sign(signed, now, signing) };
}

function changedBody(transaction: TransactionRecord, base: string, changes: Misbehaviour): string {
  const { body, event, status, extra_fields, omit_fields = [], forged_amount, forged_currency } = changes;
  // A lone surrogate would go over the wire as U+FFFD, and the record would say something else.
  if (body !== undefined) return body.toWellFormed();
  const isForged = forged_amount !== undefined || forged_currency !== undefined;
  if (!isForged && [event, status, extra_fields, changes.omit_fields].every((one) => one === undefined)) {
    return base;
  }
  const data = readCallback(base) ?? callbackData(transaction);
  const payload = {
    ...data.payload,
    ...(isForged ? forgedMoney(transaction, changes) : {}),
    ...(status === undefined ? {} : { transaction_status: status }),
    ...extra_fields,
  };
  const left = Object.entries(payload).filter(([name]) => !omit_fields.includes(name));
  const isNamed = !omit_fields.includes('event');
  return JSON.stringify({
    ...(isNamed ? { event: event ?? data.event } : {}),
    payload: Object.fromEntries(left),
  });
}

/**
 * The six fields that speak of money, with another amount or currency: what the signature does not notice (threat A2).
 * The charge stays, and the total is consistent.
 *
 * @throws {SandboxRefusal} when the amount is not exact in the currency.
 */
export function forgedMoney(
  transaction: TransactionRecord,
  changes: Misbehaviour,
  field = 'forged_amount',
): object {
  const { chargeCustomer } = transaction;
  const currency = changes.forged_currency ?? transaction.currency;
  const amount = exactAmount(
    changes.forged_amount ?? toAmount(transaction.amount, transaction.currency),
    currency,
    field,
  );
  const charge = rescale(transaction.charge, transaction.currency, currency);
  const totalCredit = chargeCustomer ? amount : amount - charge;
  const { payload } = callbackData({ ...transaction, currency, amount, charge, totalCredit });
  return {
    request_currency: payload.request_currency,
    request_amount: payload.request_amount,
    transaction_currency: payload.transaction_currency,
    transaction_amount: payload.transaction_amount,
    transaction_charge: payload.transaction_charge,
    total_credit: payload.total_credit,
  };
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
export function readCallback(
  body: string,
): { event?: unknown; payload: Record<string, unknown> } | undefined {
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
