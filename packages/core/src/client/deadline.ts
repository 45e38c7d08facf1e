import type { Timing } from './timing.ts';

/** One call's time: a signal that covers all its attempts, waits and bodies. */
export interface Deadline {
  /** Aborted when the time is over, or when the caller gives up. */
  readonly signal: AbortSignal;
  /** Whether it was the time, and not the caller. */
  isOver(): boolean;
  remainingMs(): number;
  /** Takes the timer and the listener on the caller's signal back. Call it when the call has ended. */
  close(): void;
}

/** Starts the deadline of a call, and ties it to the caller's own signal. */
export function openDeadline(timeoutMs: number, caller: AbortSignal | undefined, timing: Timing): Deadline {
  const controller = new AbortController();
  const end = timing.monotonic() + timeoutMs;
  let isOver = false;
  const cancel = timing.schedule(() => {
    if (controller.signal.aborted) return;
    isOver = true;
    controller.abort();
  }, timeoutMs);
  const onAbort = (): void => controller.abort(caller?.reason);
  if (caller?.aborted) onAbort();
  caller?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    remainingMs: () => end - timing.monotonic(),
    close: () => {
      cancel();
      caller?.removeEventListener('abort', onAbort);
    },
  };
}
