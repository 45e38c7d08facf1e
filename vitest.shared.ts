import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { Script } from 'node:vm';

/**
 * What the tests of every package share: the vitest.config.ts of a package is this one, or spreads it and adds what it needs.
 *
 * The test files of a package run in the same processes and share what they import, which takes longer to load than many of
 * them run: a test resets what it changes outside itself, such as the environment and what listens to the process.
 *
 * The deadlines only end what hangs: vitest's own, five seconds for a test and one for `expect.poll`, are too short for
 * compilers, browsers and databases on a machine that has other things to do.
 */
export const SHARED: {
  include: string[];
  isolate: boolean;
  testTimeout: number;
  hookTimeout: number;
  expect: { poll: { timeout: number } };
} = {
  // With `--mode proofs`, what takes long: attacks in volume, processes that are killed, whole runs of the laboratory.
  include: [process.argv.includes('proofs') ? 'test/**/*.proof.ts' : 'test/**/*.test.ts'],
  isolate: false,
  testTimeout: process.argv.includes('proofs') ? 300_000 : 120_000,
  hookTimeout: process.argv.includes('proofs') ? 300_000 : 120_000,
  expect: { poll: { timeout: 30_000 } },
};

const config: { test: typeof SHARED } = { test: SHARED };
export default config;

/**
 * How many test files run side by side where most tests wait for a database, a browser or another process. vitest's
 * default is one on two cores.
 */
export const WAITING_WORKERS: number = availableParallelism() + 1;

/**
 * Finds a TCP port of 127.0.0.1 that stays free until its caller uses it: a UDP socket on the same number claims it for as long
 * as this process runs, and it is below those that the system assigns to outgoing connections.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(20_000, 30_000);
    if ((await isClaimed(port)) && (await isFree(port))) return port;
  }
  throw new Error('No port between 20000 and 30000 is free on 127.0.0.1.');
}

function isClaimed(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const claim = createSocket('udp4').unref();
    claim.once('error', () => resolve(false));
    claim.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** So long that quadratic work takes a quarter of a minute or more, and linear work milliseconds. */
const LONG = 120_000;

/**
 * What a stranger repeats so that code begins anew at each character, or tries every way to divide the text (threat A67). What
 * precedes and follows makes the end of the text refuse what its beginning allowed.
 */
export const LONG_TEXTS: readonly string[] = [
  ' ',
  '0',
  '1',
  'a',
  '/',
  '\\',
  '"',
  '&',
  '%',
  '=',
  ',',
  '.',
  ':',
  '-',
  '\n',
  '\u0000',
]
  .concat('a&', 'a=', '[a]', '%41', '&#', '\\u00', '\\"', "$'", '1,000', '. ', '\u00a0', '\u202e', '😀')
  .map((part) => `1${part.repeat(LONG / part.length)}a1`);

/**
 * Runs what costs milliseconds, and ends it after ten seconds: a deadline of vitest cannot interrupt it.
 *
 * @throws {Error} with the code ERR_SCRIPT_EXECUTION_TIMEOUT.
 */
export function runOrEnd(act: () => unknown, afterMs = 10_000): void {
  Object.assign(globalThis, { runOrEnd: act });
  new Script('globalThis.runOrEnd()').runInThisContext({ timeout: afterMs });
}
