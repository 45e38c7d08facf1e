import type { Context, Handler } from 'hono';
import type { RefusalStatus, SandboxRefusal } from '../state/refusal.ts';

/** The statuses of errors. */
type ErrorStatus = RefusalStatus | 401 | 403 | 405 | 421 | 429 | 500 | 503;

/** The response envelope of a success (protocol §2.1). */
export function succeed(c: Context, data: object, status: 200 | 201 = 200): Response {
  return c.json({ code: status, status: 'success', message: 'Request completed successfully', data }, status);
}

/** The envelope of an error (protocol §7): `data` is an empty object, except under /sandbox. */
export function fail(c: Context, status: ErrorStatus, message: string, data: object = {}): Response {
  c.set('refusal', message);
  return c.json({ code: status, status: 'error', message, data }, status);
}

/** What a refusal looks like over HTTP. */
export function failWith(c: Context, { status, message, reason, field }: SandboxRefusal): Response {
  return fail(c, status, message, field === undefined ? { reason } : { reason, field });
}

/** 405 for every other method of a path. */
export const onlyMethods =
  (...allowed: string[]): Handler =>
  (c) => {
    c.header('allow', allowed.join(', '));
    return fail(c, 405, `${c.req.method} is not allowed here; use ${allowed.join(' or ')}.`);
  };
