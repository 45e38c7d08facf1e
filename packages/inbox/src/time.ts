/** Something did not answer within the time that was given for it. */
export class TimedOut extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(message = 'The store did not answer in time.') {
    super(message);
    this.name = 'TimedOut';
  }
}

/**
 * Calls the function after `ms` milliseconds, and after what has arrived by then was read: a process that stood still,
 * because something kept its thread, finds its timers due before it finds the answers that came meanwhile.
 *
 * @returns the function that prevents the call.
 */
export function afterMs(ms: number, act: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(act);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

/**
 * What the promise gives, or a rejection after `ms` milliseconds; a later result is dropped.
 *
 * @param message what the rejection says.
 */
export async function within<T>(ms: number, promise: Promise<T>, message?: string): Promise<T> {
  let stop: () => void = () => undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    stop = afterMs(ms, () => reject(new TimedOut(message)));
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    stop();
  }
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
