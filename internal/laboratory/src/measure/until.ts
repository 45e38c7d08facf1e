import { setTimeout as wait } from 'node:timers/promises';
import { stopped } from './program.ts';

/**
 * Looks again and again, until something is found.
 *
 * @param what is waited for: ends the sentence of the error.
 * @throws {Error} when it is not found in time, or the run is ended.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  { withinMs = 120_000, everyMs = 50 }: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    stopped.throwIfAborted();
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`${withinMs / 1000} s were not enough for ${what}.`);
    await wait(everyMs);
  }
}

/** As long as a run may stand still: far longer than any outage of its own making. */
const STUCK_MS = 120_000;

/** Throws when what it is shown stays the same for too long. */
export function stuckWatch(): (state: string) => void {
  let last = '';
  let since = performance.now();
  return (state) => {
    if (state !== last) {
      last = state;
      since = performance.now();
    } else if (performance.now() - since > STUCK_MS) {
      throw new Error(`Nothing has moved for ${STUCK_MS / 1000} s: ${state}`);
    }
  };
}
