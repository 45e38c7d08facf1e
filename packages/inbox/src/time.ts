/** Something did not answer within its time limit. */
export class TimedOut extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(message = 'The store did not answer in time.') {
    super(message);
    this.name = 'TimedOut';
  }
}

/** The result of the promise, or a rejection with the message after `ms` milliseconds; a later result is dropped. */
export function within<T>(ms: number, promise: Promise<T>, message?: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimedOut(message)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The result of the promise, or a rejection with the reason of the signal; a later result is dropped. */
export function unlessAborted<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    promise.then(resolve, reject).finally(() => signal?.removeEventListener('abort', end));
  });
}

/** Resolves after the time, or when one of the signals is aborted. */
export function pause(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const signal of signals) signal.addEventListener('abort', end);
    if (signals.some(({ aborted }) => aborted)) end();
  });
}
