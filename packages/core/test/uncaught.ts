import { onTestFinished } from 'vitest';

/** The exceptions that nothing catches until the test ends. Without it, they would end the process. */
export function uncaughtExceptions(): unknown[] {
  const errors: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => errors.push(error));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  });
  return errors;
}
