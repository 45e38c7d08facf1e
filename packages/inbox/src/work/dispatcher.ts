import { pause, within } from '../time.ts';
import { attempt, type Due, dueIn, type WorkContext, waitForStore } from './attempt.ts';
import type { Wakeup } from './wakeup.ts';

export interface DispatcherOptions<Tx> extends WorkContext<Tx> {
  readonly concurrency: number;
  readonly pollMs: number;
  readonly wakeup: Wakeup;
  readonly ready: () => Promise<void>;
}

/** As many as the statement find_due gives. */
const WINDOW = 50;
/** How often the beginning is looked at again: for what was due early and busy, and for retries. */
const FROM_BEGINNING_MS = 1000;
/** What was left to others is looked at after this time. */
const LEFT_OUT_MS = 20;
const BEGINNING = { nextAt: -1, id: 0 };

/**
 * Takes due transitions in windows and runs their attempts, until the signal is aborted; running handlers end before it
 * resolves. A window begins where the last one ended, so that its cost does not depend on how many are due.
 */
export async function dispatch<Tx>(options: DispatcherOptions<Tx>): Promise<void> {
  const { statements, settings, signal, ready, wakeup, concurrency, pollMs } = options;
  const running = new Map<string, Promise<void>>();
  let mark: Pick<Due, 'nextAt' | 'id'> = BEGINNING;
  let begunAt = Number.NEGATIVE_INFINITY;
  let isPassedOver = false;
  /** Whether another process was faster, in the window that is worked on. */
  let isOvertaken = false;
  /** Whether due transitions were left to others since the beginning. */
  let isLeftOut = false;

  /** Resolves when fewer than `most` attempts are running. */
  async function room(most: number): Promise<void> {
    while (running.size >= most) await Promise.race(running.values());
  }

  async function run(due: Due): Promise<void> {
    const isFirst = await attempt(due, options).catch((error: unknown) => waitForStore(error, 1, options));
    isOvertaken ||= isFirst === false;
    running.delete(due.subjectKey);
    // Another transition of an internal_reference that was being worked on.
    if (isPassedOver) wakeup.wake();
    isPassedOver = false;
  }

  /** @returns how long to wait before the next one, in milliseconds. */
  async function startWindow(): Promise<number> {
    if (performance.now() - begunAt > FROM_BEGINNING_MS) {
      mark = BEGINNING;
      begunAt = performance.now();
      isLeftOut = false;
    }
    const found = statements.run('find_due', [settings.account, mark.nextAt, mark.id]);
    const window = (await within(settings.storeTimeoutMs, found)).map(dueIn);
    isOvertaken = false;
    for (const [index, due] of window.entries()) {
      if (isOvertaken && window.length === WINDOW) {
        // Others work on the same window, and each would try each of its entries. This one goes on somewhere further on, and
        // finds what it leaves out from the beginning.
        isLeftOut = true;
        mark = window[index + Math.floor(settings.random() * (WINDOW - index))] ?? due;
        return 0;
      }
      mark = due;
      if (running.has(due.subjectKey)) {
        isPassedOver = true;
        continue;
      }
      // A handler that may end the process runs alone: it takes no other's attempt with it.
      await room(due.unfinished > 0 ? 1 : concurrency);
      if (signal.aborted) return 0;
      running.set(due.subjectKey, run(due));
      if (due.unfinished > 0) await room(1);
    }
    if (window.length === WINDOW) return 0;
    begunAt = Number.NEGATIVE_INFINITY;
    return isLeftOut ? Math.min(pollMs, LEFT_OUT_MS) : pollMs;
  }

  settings.emit({ name: 'worker.started', concurrency });
  let failures = 0;
  while (!signal.aborted) {
    // Before the look at the store: a wake-up that comes while the answer is under way must not be missed.
    const woken = wakeup.next;
    try {
      await ready();
      const waitMs = await startWindow();
      failures = 0;
      if (waitMs > 0) await pause(waitMs, signal, woken);
    } catch (error) {
      failures += 1;
      await waitForStore(error, failures, options);
    }
  }
  await Promise.all(running.values());
  settings.emit({ name: 'worker.stopped' });
}
