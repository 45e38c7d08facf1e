/**
 * The status for an error that a framework met outside the shop's routes: its own 4xx (a body over the limit, a path
 * that cannot be decoded), or 500, which is ours and goes to the log.
 */
export function problemStatus(error: unknown, log: (line: string) => void): number {
  const status = statusOf(error, 'statusCode') ?? statusOf(error, 'status');
  if (status !== undefined && status >= 400 && status < 500) return status;
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 500;
}

function statusOf(error: unknown, name: 'status' | 'statusCode'): number | undefined {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;
  return typeof value === 'number' ? value : undefined;
}
