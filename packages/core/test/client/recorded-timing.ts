import type { Timing } from '../../src/client/client.ts';

/** The default deadline; anything shorter is a wait. */
const DEADLINE_MS = 10_000;

/**
 * Waits between attempts are recorded and end immediately; deadlines end when the test says so. No test here
 * depends on how fast the machine is.
 */
export function recordedTiming(random: () => number = () => 1): {
  readonly timing: Partial<Timing>;
  /** Every wait between two attempts, in milliseconds. */
  readonly waits: number[];
  /** Every deadline that was set, in milliseconds. */
  readonly deadlines: number[];
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: Set<object>;
  /** Expires all running deadlines. */
  readonly expire: () => void;
} {
  const waits: number[] = [];
  const deadlines: number[] = [];
  const pending = new Set<{ readonly isDeadline: boolean; readonly fire: () => void }>();
  const schedule: Timing['schedule'] = (callback, delayMs) => {
    const isDeadline = delayMs >= DEADLINE_MS;
    const fire = (): void => void (pending.delete(timer) && callback());
    const timer = { isDeadline, fire };
    pending.add(timer);
    (isDeadline ? deadlines : waits).push(delayMs);
    if (!isDeadline) setTimeout(fire, 0);
    return () => void pending.delete(timer);
  };
  const expire = (): void => {
    for (const { isDeadline, fire } of [...pending]) if (isDeadline) fire();
  };
  return { timing: { schedule, random }, waits, deadlines, pending, expire };
}
