interface Waiting<T> {
  readonly item: T;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The plainest way to commit for several callers together: while one group is on its way, the next one gathers. */
export function grouped<T>(
  most: number,
  lanes: number,
  send: (items: readonly T[]) => Promise<unknown>,
): (item: T) => Promise<void> {
  const waiting: Waiting<T>[] = [];
  let free = lanes;
  function next(): void {
    while (free > 0 && waiting.length > 0) {
      free -= 1;
      const group = waiting.splice(0, most);
      send(group.map(({ item }) => item))
        .then(
          () => {
            for (const { resolve } of group) resolve();
          },
          (error: unknown) => {
            for (const { reject } of group) reject(error);
          },
        )
        .finally(() => {
          free += 1;
          next();
        });
    }
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // Whatever else arrives in this turn of the event loop comes along.
      setImmediate(next);
    });
}
