import type { Timing } from '../../src/client/client.ts';

export interface RecordedTiming {
  readonly timing: Partial<Timing>;
  /** Every wait between two attempts, in milliseconds. */
  readonly waits: number[];
  /** Every deadline that was set, in milliseconds. */
  readonly deadlines: number[];
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: Set<number>;
  /** Expires all running deadlines. */
  readonly expire: () => void;
}

/** The default deadline; anything shorter is a wait. */
const DEADLINE_MS = 10_000;

/**
 * Waits between attempts are recorded and end immediately; deadlines end when the test says so. No test here
 * depends on how fast the machine is.
 */
export function recordedTiming(random: () => number = () => 1): RecordedTiming {
  const waits: number[] = [];
  const deadlines: number[] = [];
  const pending = new Set<number>();
  const running = new Map<number, () => void>();
  let last = 0;
  const schedule: Timing['schedule'] = (callback, delayMs) => {
    const id = ++last;
    pending.add(id);
    const fire = (): void => {
      pending.delete(id);
      running.delete(id);
      callback();
    };
    let cancel = (): void => {};
    if (delayMs < DEADLINE_MS) {
      waits.push(delayMs);
      const timer = setTimeout(fire, 0);
      cancel = () => clearTimeout(timer);
    } else {
      deadlines.push(delayMs);
      running.set(id, fire);
    }
    return () => {
      pending.delete(id);
      running.delete(id);
      cancel();
    };
  };
  const expire = (): void => {
    for (const fire of [...running.values()]) fire();
  };
  return { timing: { schedule, random }, waits, deadlines, pending, expire };
}
