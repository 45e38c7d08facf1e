import { availableParallelism } from 'node:os';

/**
 * What the tests of every package share: the vitest.config.ts of a package is this one, or spreads it and adds what it needs.
 *
 * The deadlines only end what hangs: vitest's own, five seconds for a test and one for `expect.poll`, are too short for
 * compilers, browsers and databases on a machine that has other things to do.
 */
export const SHARED: { testTimeout: number; hookTimeout: number; expect: { poll: { timeout: number } } } = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 30_000 } },
};

const config: { test: typeof SHARED } = { test: SHARED };
export default config;

/**
 * How many test files run side by side where most tests wait for a database, a browser or another process. vitest's
 * default is one on two cores.
 */
export const WAITING_WORKERS: number = availableParallelism() + 1;
