import type { Context } from 'hono';
import { startOf } from '../deliveries/delivery-attempt.ts';
import { readJson } from '../state/fields.ts';
import { refuse, SandboxRefusal } from '../state/refusal.ts';

/** Far more than any request of the contract or of the simulation needs. */
const MAX_BODY_BYTES = 64 * 1024;

/**
 * The body as a string; empty when the request has none.
 *
 * The limit applies where a body is read. A middleware in front would have to rebuild the request, which the platform
 * refuses for the request objects of Node's bridge.
 */
async function textOf(c: Context): Promise<string> {
  const { body, is_cut } = await startOf(c.req.raw.body, MAX_BODY_BYTES);
  if (is_cut) {
    throw new SandboxRefusal('malformed_request', 'The body is longer than 64 KiB.', undefined, 413);
  }
  c.set('sent', body);
  return body;
}

/** The JSON body; its schema says later what is wrong with its fields. Without a body: no fields. */
export async function jsonBody(c: Context): Promise<unknown> {
  const type = c.req.header('content-type') ?? 'application/json';
  if (!/^application\/json\b/i.test(type)) {
    refuse('malformed_request', 'The body must be JSON (content-type: application/json).');
  }
  const text = await textOf(c);
  const value = text === '' ? {} : readJson(text);
  return value === undefined ? refuse('malformed_request', 'The body is not valid JSON.') : value;
}

/** The fields of a form; an empty one counts as not given. */
export async function formFields(c: Context): Promise<Record<string, string>> {
  const fields = [...new URLSearchParams(await textOf(c))];
  return Object.fromEntries(fields.filter(([, value]) => value !== ''));
}
