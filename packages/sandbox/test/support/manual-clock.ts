import type { Clock } from '../../src/index.ts';

/** A clock that stands still until it is advanced; a sleeper wakes when the clock passes its time. */
export interface ManualClock extends Clock {
  /** The remaining time of each sleeper in milliseconds, shortest first. */
  sleeping(): number[];
  move(ms: number): void;
}

export function createManualClock(start: number = Date.UTC(2026, 0, 2, 3, 4, 5)): ManualClock {
  let now = start;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = {
          at: now + ms,
          wake: () => {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        if (signal.aborted || ms <= 0) return resolve();
        sleepers.add(sleeper);
        signal.addEventListener('abort', sleeper.wake);
      }),
    sleeping: () => [...sleepers].map(({ at }) => at - now).sort((a, b) => a - b),
    move: (ms) => {
      now += ms;
      for (const sleeper of [...sleepers]) if (sleeper.at <= now) sleeper.wake();
    },
  };
}
