import { flushCompileCache } from 'node:module';

/** What the parent tells a process that it starts. */
export function roleSettings<T>(): T {
  const text = process.env['CRASH_TEST_ROLE'];
  if (text === undefined) throw new Error('This program is started by crash-test.ts, not by hand.');
  return JSON.parse(text) as T;
}

/** Ends with the parent, so that nothing is left running when it is killed itself. */
export function endWithParent(): void {
  process.on('disconnect', () => process.exit(1));
}

/** Killed processes write no cache, and each start would strip and compile the same files again. */
export function tellReady(address?: string): void {
  tellParent({ ready: true, address });
  flushCompileCache();
}

export function tellParent(message: object): void {
  process.send?.(message);
}
