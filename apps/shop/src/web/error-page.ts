import { problemPage } from './message-page.ts';
import type { Page } from './page.ts';

export type Log = (line: string) => void;

/** For the log, with the stack if there is one. */
export function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * For an error that a framework met outside the shop's routes: its own 4xx (a body over the limit, a path that cannot be
 * decoded), or 500, which is our fault and logged.
 */
export function errorPage(error: unknown, log: Log): Promise<Page> {
  const status = statusOf(error, 'statusCode') ?? statusOf(error, 'status') ?? 500;
  if (status >= 400 && status < 500) return problemPage(status);
  log(errorText(error));
  return problemPage(500);
}

function statusOf(error: unknown, name: 'status' | 'statusCode'): number | undefined {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  return typeof value === 'number' ? value : undefined;
}
