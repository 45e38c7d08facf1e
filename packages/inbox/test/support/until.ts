/** Resolves when the condition holds; a hang is ended by the test's own deadline. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(5);
}

/**
 * Repeats what may fail for want of time, as its caller would, until it succeeds: a disk or a machine that stands still for
 * a moment must not look like what a test is about.
 */
export async function untilDone(act: () => Promise<unknown>): Promise<void> {
  await until(() =>
    act().then(
      () => true,
      () => false,
    ),
  );
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A promise, and the function that resolves it. */
export function signal(): { readonly promise: Promise<void>; readonly give: () => void } {
  let give: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { promise, give };
}
