import { PaymentServiceError } from '@payment-service/core';
import { SetupError } from '../config.ts';
import type { RunningShop } from './start-shop.ts';

/** The time limit of a stop, whatever connections are still open. */
const STOP_MS = 900;

/**
 * Starts a program and runs it until Ctrl-C or a signal; then closes it and exits with 0. A problem that a person can fix is
 * printed as a message, with exit code 1; any other error keeps its stack.
 */
export async function runUntilStopped(
  start: () => Promise<readonly Pick<RunningShop, 'close'>[]>,
): Promise<void> {
  // Registered first, so that a signal during the start also stops it. A terminal and pnpm may both send one: only the first
  // counts.
  const { promise: stop, resolve: stopped } = Promise.withResolvers<unknown>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stopped);

  try {
    const running = await start();
    await stop;
    setTimeout(() => process.exit(0), STOP_MS).unref();
    await Promise.all(running.map((part) => part.close()));
    process.exit(0);
  } catch (error) {
    if (!(error instanceof SetupError) && !(error instanceof PaymentServiceError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
    // What had started before the problem is not waited for.
    setTimeout(() => process.exit(), STOP_MS).unref();
  }
}
