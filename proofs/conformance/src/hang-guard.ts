import { setTimeout as wait } from 'node:timers/promises';

/** How long a wait may take before it counts as a hang. The control shortens it for adapters that never answer. */
export const patience: { ms: number } = { ms: 15_000 };

/** Nothing in an adapter may hang. Fails with what the test waited for; does not measure speed. */
export async function hangGuard<T>(
  waitedFor: string,
  promise: Promise<T>,
  ms: number = patience.ms,
): Promise<T> {
  const over = new AbortController();
  const hang = wait(ms, undefined, over).then(() => {
    throw new Error(`Hangs: still waiting for ${waitedFor}.`);
  });
  return Promise.race([promise, hang]).finally(() => over.abort());
}
