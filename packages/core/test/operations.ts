export type Counted = readonly [owner: object, names: readonly PropertyKey[]];

/**
 * The cost of a run: one for each call of these built-in methods, on which everything else is based, plus what `sizeOf` adds
 * for its result.
 */
export function operations(
  counted: readonly Counted[],
  run: () => unknown,
  sizeOf: (result: unknown, name: PropertyKey, self: unknown) => number = () => 0,
): number {
  let count = 0;
  const restore = counted.flatMap(([owner, names]) =>
    names.map((name) => {
      const original = Object.getOwnPropertyDescriptor(owner, name);
      const method: unknown = original?.value;
      if (original === undefined || typeof method !== 'function')
        throw new Error(`No method ${String(name)}.`);
      function counting(this: unknown, ...given: unknown[]): unknown {
        const result: unknown = Reflect.apply(method as () => unknown, this, given);
        count += 1 + sizeOf(result, name, this);
        return result;
      }
      Object.defineProperty(owner, name, { ...original, value: counting });
      return () => Object.defineProperty(owner, name, original);
    }),
  );
  try {
    run();
  } finally {
    for (const undo of restore) undo();
  }
  return count;
}
