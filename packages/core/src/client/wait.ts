import type { Timing } from './timing.ts';

/** Waits `delayMs`, or rejects with `signal.reason` as soon as `signal` is aborted. Leaves no timer and no listener. */
export function wait(delayMs: number, signal: AbortSignal, timing: Timing): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const cancel = timing.schedule(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    function onAbort(): void {
      cancel();
      reject(signal.reason);
    }
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
