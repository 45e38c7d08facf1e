import { ConfigurationError } from '../../errors.ts';
import { kindOf } from '../../options/options.ts';
import { isPlain, wrong } from './address.ts';

/** Deeper data is a cycle, or came from one. */
const MAX_DEPTH = 100;

/**
 * A body as JSON, without silent loss: a value that `JSON.stringify()` would omit or change is refused with its path before
 * anything is sent. Undefined members are left out, as usual in JSON.
 *
 * @throws {ConfigurationError}
 */
export function jsonBody(method: string, body: unknown): string | undefined {
  if (body === undefined) return undefined;
  if (method === 'GET' || method === 'HEAD')
    throw wrong('body', `must be left out: ${method} has none. Use query.`);
  const plain = readable(body);
  // A string is usually JSON already, and would be sent as JSON in a string.
  if (typeof plain !== 'object' || plain === null)
    throw wrong('body', `must be an object or a list; request() makes the JSON. It is ${kindOf(body)}.`);
  return JSON.stringify(plain);
}

function readable(body: unknown): unknown {
  try {
    return plainOf(body, 'body', 0);
  } catch (cause) {
    if (cause instanceof ConfigurationError) throw cause;
    throw wrong('body', 'cannot be read: a getter or toJSON() in it failed.', { cause });
  }
}

/**
 * A copy of only objects, lists and plain values, so that what is checked is what is sent.
 *
 * @param isWritten Whether the value is the result of a `toJSON()`. Its own `toJSON()` is then not called.
 */
function plainOf(value: unknown, path: string, depth: number, isWritten = false): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') {
    const what = typeof value === 'number' ? String(value) : kindOf(value);
    throw wrong(path, `is ${what}, which JSON cannot express.`);
  }
  if (depth > MAX_DEPTH) throw wrong('body', `is deeper than ${MAX_DEPTH} levels, or has a cycle.`);
  // Not that of a Buffer, which would write the bytes as a list of numbers.
  const toJSON: unknown = isWritten || ArrayBuffer.isView(value) ? undefined : Reflect.get(value, 'toJSON');
  if (typeof toJSON === 'function') return plainOf(Reflect.apply(toJSON, value, ['']), path, depth, true);
  if (Array.isArray(value))
    return Array.from(value, (one, index) => plainOf(one, `${path}[${index}]`, depth + 1));
  if (!isPlain(value)) {
    throw wrong(
      path,
      `is ${kindOf(value)} of a class, whose content JSON may lose. Pass a plain object, or give the class toJSON().`,
    );
  }
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.map(([name, member]) => [name, plainOf(member, `${path}.${name}`, depth + 1)]),
  );
}
