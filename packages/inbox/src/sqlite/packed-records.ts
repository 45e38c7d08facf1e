import type { RefusalCode } from '@payment-service/core';
import type { IntakeRecord } from '../intake-record.ts';

/**
 * A group of deliveries in the form that goes to a thread: all bytes in one buffer, which is handed over and not copied,
 * and flat lists. Cloning the records one by one, each with its buffers, costs more than storing them.
 */
export interface PackedRecords {
  /** For each record its four keys of 32 bytes, and its body. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly texts: readonly (string | null)[];
  readonly numbers: readonly number[];
}

const KEY = 32;
const TEXTS = 7;
const NUMBERS = 4;

export function packRecords(records: readonly IntakeRecord[]): PackedRecords {
  const size = records.reduce((total, { body }) => total + 4 * KEY + body.length, 0);
  const bytes = new Uint8Array(size);
  const texts: (string | null)[] = [];
  const numbers: number[] = [];
  let offset = 0;
  for (const record of records) {
    const { transitionId, referenceKey, subjectKey, digest, body, request, transaction } = record;
    for (const part of [transitionId, referenceKey, subjectKey, digest, body]) {
      bytes.set(part, offset);
      offset += part.length;
    }
    texts.push(record.signed, request.currency, request.amount, transaction.currency, transaction.amount);
    texts.push(record.keyId, record.refusal ?? null);
    numbers.push(body.length, record.receivedAt, record.isCompleted ? 1 : 0, record.isAcknowledged ? 1 : 0);
  }
  return { bytes, texts, numbers };
}

export function unpackRecords({ bytes, texts, numbers }: PackedRecords): IntakeRecord[] {
  const records: IntakeRecord[] = [];
  let offset = 0;
  const take = (length: number): Uint8Array => {
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  for (let index = 0; index * NUMBERS < numbers.length; index += 1) {
    const text = (position: number): string | null => texts[index * TEXTS + position] ?? null;
    const number = (position: number): number => numbers[index * NUMBERS + position] ?? 0;
    records.push({
      transitionId: take(KEY),
      referenceKey: take(KEY),
      subjectKey: take(KEY),
      digest: take(KEY),
      body: take(number(0)),
      signed: text(0) ?? '',
      request: { currency: text(1), amount: text(2) },
      transaction: { currency: text(3), amount: text(4) },
      keyId: text(5) ?? '',
      refusal: (text(6) ?? undefined) as RefusalCode | undefined,
      receivedAt: number(1),
      isCompleted: number(2) === 1,
      isAcknowledged: number(3) === 1,
    });
  }
  return records;
}
