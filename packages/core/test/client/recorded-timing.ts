import type { Timing } from '../../src/client/timing.ts';
import { systemTiming } from '../../src/client/timing.ts';

export interface RecordedTiming {
  readonly timing: Partial<Timing>;
  /** Every wait between two attempts, in milliseconds. */
  readonly waits: number[];
  /** Timers that were neither fired nor taken back. */
  readonly pending: Set<number>;
}

/** The default deadline; what is shorter is a wait. */
const DEADLINE_MS = 10_000;

/** Real timers, except that waits between attempts are noted down and then over at once. */
export function recordedTiming(random: () => number = () => 1): RecordedTiming {
  const waits: number[] = [];
  const pending = new Set<number>();
  let last = 0;
  const schedule: Timing['schedule'] = (callback, delayMs) => {
    const id = ++last;
    pending.add(id);
    const isWait = delayMs < DEADLINE_MS;
    if (isWait) waits.push(delayMs);
    const fire = (): void => {
      pending.delete(id);
      callback();
    };
    const cancel = systemTiming.schedule(fire, isWait ? 0 : delayMs);
    return () => {
      pending.delete(id);
      cancel();
    };
  };
  return { timing: { schedule, random }, waits, pending };
}
