import { setTimeout as wait } from 'node:timers/promises';
import { stopped } from './program.ts';

export interface Patience {
  /** The longest time without progress: far longer than any outage that a run causes. @default two minutes */
  readonly withinMs?: number;
  readonly everyMs?: number;
  /** @default the end of the run */
  readonly signal?: AbortSignal;
}

/**
 * Looks repeatedly until something is found, or is true.
 *
 * @param state what is waited for, and how far it has come.
 * @throws {Error} if the state stays the same for too long, or if the run is ended.
 */
export async function until<T>(
  state: string | (() => string),
  look: () => T | Promise<T>,
  { withinMs = 120_000, everyMs = 50, signal = stopped }: Patience = {},
): Promise<Exclude<T, false | undefined>> {
  let last = '';
  for (let since = performance.now(); ; await wait(everyMs)) {
    signal.throwIfAborted();
    const found = await look();
    if (found !== undefined && found !== false) return found as Exclude<T, false | undefined>;
    const now = typeof state === 'string' ? state : state();
    if (now !== last) since = performance.now();
    last = now;
    if (performance.now() - since > withinMs)
      throw new Error(`Nothing has moved for ${withinMs / 1000} s: ${now}`);
  }
}
