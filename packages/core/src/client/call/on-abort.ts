interface Waiting {
  readonly listeners: Set<() => void>;
  readonly run: () => void;
}

/** One listener per signal serves all calls that wait for it: with eleven, Node 20 would warn of a leak. */
const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls `listener` when `signal` aborts. The signal must not have aborted yet.
 *
 * @returns A function that removes the listener. Removing the last one leaves no listener on the signal.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, run } = waiting.get(signal) ?? firstOf(signal);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    signal.removeEventListener('abort', run);
    waiting.delete(signal);
  };
}

function firstOf(signal: AbortSignal): Waiting {
  const listeners = new Set<() => void>();
  const run = (): void => {
    for (const one of [...listeners]) one();
  };
  signal.addEventListener('abort', run, { once: true });
  const first = { listeners, run };
  waiting.set(signal, first);
  return first;
}
