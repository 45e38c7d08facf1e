/** The duration of a slice. */
export interface Timed {
  /** For all items, from the first start to the last end. */
  readonly seconds: number;
  /** When each item was begun and done, in milliseconds since 1970, to the microsecond. */
  readonly spans: readonly Span[];
}

export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Processes all items, with limited concurrency: each worker takes the next item when it is done. */
export async function inConcert<T>(
  items: readonly T[],
  concurrency: number,
  act: (item: T) => Promise<unknown>,
): Promise<Timed> {
  const spans: Span[] = [];
  const rest = items.values();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const item of rest) {
        const begin = performance.timeOrigin + performance.now();
        await act(item);
        spans.push({ begin, end: performance.timeOrigin + performance.now() });
      }
    }),
  );
  return { seconds: (performance.now() - started) / 1000, spans };
}
