/** What the sender wrote as `t`. It is not signed: anyone who has one signature can write any `t` beside it (threat A1). */
export interface Timestamp {
  /** `t` as it came. */
  readonly text: string;
  /** The unit is not shown in the specification: 1e11 or more is read as milliseconds. */
  readonly unit: 'seconds' | 'milliseconds' | 'unreadable';
  /** Receiver's clock minus `t`, in seconds; negative when `t` lies ahead; undefined when `t` is unreadable. */
  readonly ageSeconds: number | undefined;
}

const FIRST_MILLISECONDS = 1e11;

export function readTimestamp(text: string, now: number): Timestamp {
  if (!/^[0-9]+$/.test(text)) return { text, unit: 'unreadable', ageSeconds: undefined };
  const value = Number(text);
  const unit = value >= FIRST_MILLISECONDS ? 'milliseconds' : 'seconds';
  // Subtracted as whole milliseconds: in fractions of seconds, an age at the very bound of a tolerance can exceed it.
  const milliseconds = unit === 'milliseconds' ? value : value * 1000;
  return { text, unit, ageSeconds: (now - milliseconds) / 1000 };
}
