import { visitMembers } from './json-members.ts';
import { SIGNED_NAMES } from './signed-fields.ts';

/** A callback's body: the raw bytes, the JSON string, or the result of a body parser. */
export type CallbackBody = Uint8Array | string | object;

export interface ReadBody {
  readonly data: object;
  readonly payload: object;
  /** The JSON text, when the body had not been parsed. */
  readonly text: string | undefined;
  /** A signed field name appears twice: two parsers could read two values (threat A17). */
  readonly repeatsSignedName: boolean;
}

// `ignoreBOM: false` skips a leading byte order mark, as the body parsers of the frameworks do: one verdict for the same
// bytes, parsed before or not. `fatal`: invalid bytes would all decode to U+FFFD and collide (threat A8).
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Undefined when the body is not a JSON object with an object `payload`. */
export function readCallbackBody(body: unknown): ReadBody | undefined {
  try {
    // Not `instanceof`: a runtime's own realm may have made the bytes (Jest, edge sandboxes).
    const text = ArrayBuffer.isView(body)
      ? decoder.decode(body as Uint8Array<ArrayBuffer>)
      : typeof body === 'string' && body.startsWith('\ufeff')
        ? body.slice(1)
        : body;
    const isText = typeof text === 'string';
    const data: unknown = isText ? JSON.parse(text) : text;
    if (!isObject(data)) return undefined;
    const payload = isText ? jsonValue(data, 'payload') : ownValue(data, 'payload');
    if (!isObject(payload)) return undefined;
    const repeats = isText && repeatsSignedName(text);
    return { data, payload, text: isText ? text : undefined, repeatsSignedName: repeats };
  } catch {
    return undefined; // Not UTF-8, not JSON, or a proxy that throws.
  }
}

/**
 * An own data property, or undefined: never a getter, never the prototype (threat A16). A hostile object can be a proxy
 * whose traps throw: then the property counts as missing.
 */
export function ownValue(data: object, name: string): unknown {
  try {
    return Object.getOwnPropertyDescriptor(data, name)?.value;
  } catch {
    return undefined;
  }
}

/** The same for a result of JSON.parse, which has no getters: a descriptor for each field costs more than the digest. */
export function jsonValue(data: object, name: string): unknown {
  return Object.hasOwn(data, name) ? (data as Readonly<Record<string, unknown>>)[name] : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The names that may appear only once, and their quoted spelling, wherever it is found. */
const NAMES: { readonly [Parent in 'callback' | 'payload']: readonly string[] } = {
  callback: ['event', 'payload'],
  payload: SIGNED_NAMES.filter((name) => name !== 'event'),
};
const WATCHED = /"(?:payload"|event"|merchant_reference"|internal_reference"|transaction_(?:type"|status"))/g;

function repeatsSignedName(text: string): boolean {
  // Nearly every body is settled here. All of the names must be present for a callback to verify, so as many matches as names
  // mean that none repeats; and only a \u escape can hide a letter.
  let count = 0;
  WATCHED.lastIndex = 0;
  while (WATCHED.test(text)) count++;
  if (count === SIGNED_NAMES.length + 1 && !text.includes('\\u')) return false;
  const seen: string[] = [];
  visitMembers(text, (parent, name) => {
    if (NAMES[parent].includes(name)) seen.push(name);
  });
  return new Set(seen).size < seen.length;
}
