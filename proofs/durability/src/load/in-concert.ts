/**
 * Processes all items, with limited concurrency: each worker takes the next item when it is done.
 *
 * @returns the seconds from the first start to the last end.
 */
export async function inConcert<T>(
  items: readonly T[],
  concurrency: number,
  act: (item: T) => Promise<unknown>,
): Promise<number> {
  const rest = items.values();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const item of rest) await act(item);
    }),
  );
  return (performance.now() - started) / 1000;
}
