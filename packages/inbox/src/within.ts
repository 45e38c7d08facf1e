/** Something did not answer within the time that was given for it. */
export class TimedOut extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(message = 'The store did not answer in time.') {
    super(message);
    this.name = 'TimedOut';
  }
}

/**
 * What the promise gives, or a rejection after `ms` milliseconds; what comes later is for nobody.
 *
 * @param message what the rejection says.
 */
export async function within<T>(ms: number, promise: Promise<T>, message?: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new TimedOut(message)), ms);
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
