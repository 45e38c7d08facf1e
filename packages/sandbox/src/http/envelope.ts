import { MAX_FIELDS, readFields } from '@payment-service/pages';
import type { Context, Handler } from 'hono';
import { startOf } from '../deliveries/delivery-attempt.ts';
import { readJson } from '../state/json-values.ts';
import { type RefusalStatus, refuse, SandboxRefusal } from '../state/refusal.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** The body of the request, as far as it has been read. */
    sent?: string;
    /** Why the request was refused. */
    refusal?: string;
  }
}

/** Far more than any request of the contract or the simulation needs. */
const MAX_BODY_BYTES = 64 * 1024;

/**
 * The body as a string; empty when the request has none.
 *
 * The limit applies where a body is read. Middleware in front would have to rebuild the request, which the platform refuses
 * for the request objects of the Node bridge.
 */
async function textOf(c: Context): Promise<string> {
  const { body, is_cut } = await startOf(c.req.raw.body, MAX_BODY_BYTES).catch(() =>
    refuse('malformed_request', 'The connection ended before the body was complete.'),
  );
  if (is_cut) {
    throw new SandboxRefusal('malformed_request', 'The body is longer than 64 KiB.', undefined, 413);
  }
  c.set('sent', body);
  return body;
}

/** The JSON body, whose fields a schema checks later. No body means no fields. */
export async function jsonBody(c: Context): Promise<unknown> {
  const type = c.req.header('content-type') ?? 'application/json';
  if (!/^application\/json\b/i.test(type)) {
    refuse('malformed_request', 'The body must be JSON (content-type: application/json).');
  }
  const text = await textOf(c);
  const value = text === '' ? {} : readJson(text);
  return value === undefined ? refuse('malformed_request', 'The body is not valid JSON.') : value;
}

/** The fields of a form; an empty one counts as missing. */
export async function formFields(c: Context): Promise<Record<string, string>> {
  const fields = readFields(await textOf(c));
  if (fields === undefined) {
    throw new SandboxRefusal(
      'malformed_request',
      `The form has more than ${MAX_FIELDS} fields.`,
      undefined,
      413,
    );
  }
  return Object.fromEntries([...fields].filter(([, value]) => value !== ''));
}

/** Error statuses. */
type ErrorStatus = RefusalStatus | 401 | 403 | 405 | 421 | 429 | 500 | 503;

/** The response envelope of a success (protocol §2.1). */
export function succeed(c: Context, data: unknown, status = 200): Response {
  const envelope = { code: status, status: 'success', message: 'Request completed successfully', data };
  return c.json(envelope, status as 200);
}

/** The envelope of an error (protocol §7): `data` is an empty object, except under /sandbox. */
export function fail(c: Context, status: ErrorStatus, message: string, data: object = {}): Response {
  c.set('refusal', message);
  return c.json({ code: status, status: 'error', message, data }, status);
}

/** A refusal over HTTP. */
export function failWith(c: Context, { status, message, reason, field }: SandboxRefusal): Response {
  return fail(c, status, message, field === undefined ? { reason } : { reason, field });
}

/** 405 for all other methods of a path. */
export const onlyMethods =
  (...allowed: string[]): Handler =>
  (c) => {
    c.header('allow', allowed.join(', '));
    return fail(c, 405, `${c.req.method} is not allowed here; use ${allowed.join(' or ')}.`);
  };
