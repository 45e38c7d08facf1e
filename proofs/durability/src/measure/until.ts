import { setTimeout as wait } from 'node:timers/promises';
import { stopped } from './program.ts';

/**
 * Looks repeatedly until something is found.
 *
 * @param what names what is waited for; it ends the sentence of the error.
 * @throws {Error} if it is not found in time, or if the run is ended.
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

/** The longest that a run may make no progress: far longer than any outage that it causes. */
const STUCK_MS = 120_000;

/** Throws if the given state stays the same for too long. */
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
