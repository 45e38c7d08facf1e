import type { IntakeRecord } from './intake-record.ts';

/** The bytes of a group of deliveries in one buffer: one value for a statement or a thread, instead of five for each. */
export interface PackedBytes {
  /** For each record its four keys (transition, reference, subject, digest), and its body. */
  readonly bytes: Buffer<ArrayBuffer>;
  /** Where each record begins. */
  readonly offsets: readonly number[];
  /** How long its body is. */
  readonly lengths: readonly number[];
}

/** SHA-256. */
export const KEY_BYTES = 32;
const KEYS = 4;

export function packBytes(records: readonly IntakeRecord[]): PackedBytes {
  const lengths = records.map(({ body }) => Buffer.byteLength(body));
  const size = lengths.reduce((total, length) => total + KEYS * KEY_BYTES + length, 0);
  // A buffer of its own, which can be handed over to a thread.
  const bytes = Buffer.from(new ArrayBuffer(size));
  let at = 0;
  const offsets = records.map(({ transitionId, referenceKey, subjectKey, digest, body }) => {
    const offset = at;
    for (const key of [transitionId, referenceKey, subjectKey, digest]) at += bytes.write(key, at, 'hex');
    at += bytes.write(body, at);
    return offset;
  });
  return { bytes, offsets, lengths };
}
