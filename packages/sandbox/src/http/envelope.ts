import type { Context } from 'hono';
import type { SandboxRefusal } from '../state/refusal.ts';

/** The statuses that the sandbox answers with. */
export type AnswerStatus =
  | 200
  | 201
  | 400
  | 401
  | 403
  | 404
  | 405
  | 409
  | 413
  | 415
  | 421
  | 422
  | 429
  | 500
  | 503;

/** The response envelope of a success (protocol §2.1). */
export function succeed(c: Context, data: object, status: 200 | 201 = 200): Response {
  return c.json({ code: status, status: 'success', message: 'Request completed successfully', data }, status);
}

/** The envelope of an error (protocol §7): `data` is an empty object, except under /sandbox. */
export function fail(c: Context, status: AnswerStatus, message: string, data: object = {}): Response {
  c.set('refusal', message);
  return c.json({ code: status, status: 'error', message, data }, status);
}

/** What a refusal looks like over HTTP. */
export function failWith(c: Context, { status, message, reason, field }: SandboxRefusal): Response {
  return fail(c, status, message, field === undefined ? { reason } : { reason, field });
}
