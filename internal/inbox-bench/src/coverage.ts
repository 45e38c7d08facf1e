import type { Span } from './in-concert.ts';
import type { Sync } from './sync-trace.ts';

/** Two clocks are read, one by Node and one by strace; they are the same clock, read a little apart. */
const READING_MS = 0.2;

/** How many syncs began and ended while callbacks were under way. */
export function syncsDuring(acknowledgements: readonly Span[], syncs: readonly Sync[]): number {
  const first = Math.min(...acknowledgements.map(({ begin }) => begin));
  const last = Math.max(...acknowledgements.map(({ end }) => end));
  return syncs.filter(({ begin, end }) => begin >= first - READING_MS && end <= last + READING_MS).length;
}

/**
 * Acknowledgements that no sync can have been made for: none began after the request and ended before the answer. One
 * sync may serve a group.
 */
export function withoutSync(acknowledgements: readonly Span[], syncs: readonly Sync[]): number {
  const sorted = [...syncs].sort((a, b) => a.begin - b.begin);
  return acknowledgements.filter(
    (one) => !sorted.some(({ begin, end }) => begin >= one.begin - READING_MS && end <= one.end + READING_MS),
  ).length;
}
