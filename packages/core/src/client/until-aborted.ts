/**
 * Settles as `promise` does, or rejects with `signal.reason` as soon as `signal` is aborted, whichever comes first:
 * a `fetch` that was passed in may not listen to its signal. Leaves no listener behind.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
