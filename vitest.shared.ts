/**
 * What the tests of every package share. A package's own vitest.config.ts spreads it and adds what it needs.
 *
 * The deadlines only end what hangs: vitest's own five seconds are too short for compilers, browsers and databases on a
 * machine that has other things to do.
 */
export const SHARED: { testTimeout: number; hookTimeout: number } = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
};
