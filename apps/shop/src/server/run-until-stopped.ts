import { PaymentServiceError } from '@payment-service/core';
import { SetupError } from '../config.ts';

interface Running {
  close(): Promise<void>;
}

/** A stop is over by then, whatever a connection still does. */
const STOP_MS = 900;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts a program and keeps it until Ctrl-C or a signal; then closes what it runs and exits with 0. A problem that a
 * person can solve is said in words, with exit code 1; any other error keeps its stack.
 */
export async function runUntilStopped(start: () => Promise<readonly Running[]>): Promise<void> {
  // Registered first, so that a signal during the start stops as well. A terminal and pnpm may both send one: only the
  // first counts.
  let stopped: () => void = () => undefined;
  const stop = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  for (const signal of SIGNALS) process.on(signal, stopped);

  let running: readonly Running[];
  try {
    running = await start();
  } catch (error) {
    if (!(error instanceof SetupError) && !(error instanceof PaymentServiceError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
    for (const signal of SIGNALS) process.off(signal, stopped);
    return;
  }
  await stop;
  setTimeout(() => process.exit(0), STOP_MS).unref();
  await Promise.all(running.map((part) => part.close()));
  process.exit(0);
}
