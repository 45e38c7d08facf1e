import type { RefusalCode } from '@payment-service/core';
import type { IntakeRecord } from '../intake-record.ts';
import { KEY_BYTES, packBytes } from '../packed-bytes.ts';

/**
 * A group of deliveries in the form that goes to a thread: all bytes in one buffer, which is handed over and not copied,
 * and flat lists. Cloning the records one by one costs more than storing them.
 */
export interface PackedRecords {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly texts: readonly (string | null)[];
  readonly numbers: readonly number[];
}

/** One delivery on the other side of the thread, as SQLite stores it. */
export interface UnpackedRecord
  extends Omit<IntakeRecord, 'transitionId' | 'referenceKey' | 'subjectKey' | 'digest' | 'body'> {
  readonly transitionId: Uint8Array;
  readonly referenceKey: Uint8Array;
  readonly subjectKey: Uint8Array;
  readonly digest: Uint8Array;
  readonly body: Uint8Array;
}

const TEXTS = 7;
const NUMBERS = 4;

export function packRecords(records: readonly IntakeRecord[]): PackedRecords {
  const { bytes, lengths } = packBytes(records);
  const texts: (string | null)[] = [];
  const numbers: number[] = [];
  for (const [index, record] of records.entries()) {
    const { request, transaction } = record;
    texts.push(record.signed, request.currency, request.amount, transaction.currency, transaction.amount);
    texts.push(record.keyId, record.refusal ?? null);
    numbers.push(lengths[index] ?? 0, record.receivedAt);
    numbers.push(record.isCompleted ? 1 : 0, record.maxBodies);
  }
  return { bytes, texts, numbers };
}

export function unpackRecords({ bytes, texts, numbers }: PackedRecords): UnpackedRecord[] {
  const records: UnpackedRecord[] = [];
  let offset = 0;
  const take = (length: number): Uint8Array => {
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  for (let index = 0; index * NUMBERS < numbers.length; index += 1) {
    const text = (position: number): string | null => texts[index * TEXTS + position] ?? null;
    const number = (position: number): number => numbers[index * NUMBERS + position] ?? 0;
    records.push({
      transitionId: take(KEY_BYTES),
      referenceKey: take(KEY_BYTES),
      subjectKey: take(KEY_BYTES),
      digest: take(KEY_BYTES),
      body: take(number(0)),
      signed: text(0) ?? '',
      request: { currency: text(1), amount: text(2) },
      transaction: { currency: text(3), amount: text(4) },
      keyId: text(5) ?? '',
      refusal: (text(6) ?? undefined) as RefusalCode | undefined,
      receivedAt: number(1),
      isCompleted: number(2) === 1,
      maxBodies: number(3),
    });
  }
  return records;
}
