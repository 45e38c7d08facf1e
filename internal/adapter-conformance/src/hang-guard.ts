const GENEROUS_MS = 15_000;

/** Nothing in an adapter may hang. Fails with what the test waited for; does not measure speed. */
export async function hangGuard<T>(
  waitedFor: string,
  promise: Promise<T>,
  ms: number = GENEROUS_MS,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Hangs: still waiting for ${waitedFor}.`)), ms);
  });
  try {
    return await Promise.race([promise, hang]);
  } finally {
    clearTimeout(timer);
  }
}
