import { kindOf } from '../options/options.ts';
import { encoder, isObject, membersNamed, visitMembers } from './json-members.ts';
import { SIGNED_NAMES } from './signed-fields.ts';

/** A callback's body: the raw bytes, the JSON string, or the result of a body parser. */
export type CallbackBody = Uint8Array | string | object;

export interface ReadBody {
  readonly data: object;
  readonly payload: object;
  /** The JSON text, if the body had not been parsed. */
  readonly text: string | undefined;
  /** Whether a signed field name appears twice, so that two parsers could read two values (threat A17). */
  readonly repeatsSignedName: boolean;
}

// It skips a leading byte order mark, as the frameworks' body parsers do, so the same bytes get the same
// verdict, whether parsed before or not. `fatal`: invalid bytes would all decode to U+FFFD and collide (threat A8).
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true });

/** Returns undefined if the body is not a JSON object with an object `payload`. */
export function readCallbackBody(body: unknown): ReadBody | undefined {
  try {
    // Not `instanceof`: a runtime's own realm may have made the bytes (Jest, edge sandboxes).
    const text = ArrayBuffer.isView(body)
      ? decoder.decode(body as Uint8Array<ArrayBuffer>)
      : typeof body === 'string'
        ? body.replace(/^\ufeff/, '')
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
 * An own data property, or undefined; never a getter, never the prototype (threat A16). A hostile object can be a proxy whose
 * traps throw: the property then counts as missing.
 */
export function ownValue(data: object, name: string): unknown {
  try {
    return Object.getOwnPropertyDescriptor(data, name)?.value;
  } catch {
    return undefined;
  }
}

/** The same for a result of JSON.parse, which has no getters: a descriptor per field would cost more than the digest. */
export function jsonValue(data: object, name: string): unknown {
  return Object.hasOwn(data, name) ? (data as Readonly<Record<string, unknown>>)[name] : undefined;
}

const OUTER: readonly string[] = ['event', 'payload'];
const INNER: readonly string[] = /* @__PURE__ */ SIGNED_NAMES.slice(1);
const WATCHED: readonly string[] = /* @__PURE__ */ OUTER.concat(INNER);
const FOUND = /* @__PURE__ */ new RegExp(`"(?:${/* @__PURE__ */ WATCHED.join('|')})"\\s*:`, 'g');
const SPELLED = /* @__PURE__ */ membersNamed(WATCHED, 'y');
/** An escape of a letter or '_', the characters of these names. */
const ESCAPED_LETTER = /\\u00[5-7]/;

/** The names that may appear only once in their object: `event` and `payload` in the callback, the others in its payload. */
function repeatsSignedName(text: string): boolean {
  if (hasEachOnce(text)) return false;
  const seen = new Set<string>();
  return visitMembers(text, { outer: OUTER, inner: INNER, spelled: SPELLED }, (name) => {
    const { size } = seen;
    return seen.add(name).size === size;
  });
}

/**
 * Settles most bodies: a callback verifies only if all the names are present. If the text has exactly as many members with these
 * names, at any depth, as there are names, none repeats. Stops at one too many.
 */
function hasEachOnce(text: string): boolean {
  if (ESCAPED_LETTER.test(text)) return false;
  let count = 0;
  FOUND.lastIndex = 0;
  while (count <= WATCHED.length && FOUND.test(text)) count++;
  return count === WATCHED.length;
}

/**
 * What a verified callback keeps of a body. A parsed body is copied, since other code has the parsed object and may change it
 * before the handler reads an amount or stores the body (threat A48).
 */
export function keptBody({ data, payload, text }: ReadBody): Pick<ReadBody, 'data' | 'payload'> {
  if (text !== undefined) return { data, payload };
  try {
    const fields = detached({ ...payload });
    const copy = detached({ ...data, payload: undefined });
    copy['payload'] = fields;
    return { data: copy, payload: fields };
  } catch {
    return { data: {}, payload: {} }; // A proxy that now throws.
  }
}

/** The contract has no value nested in these fields. If there is one, it is copied as JSON. */
function detached(fields: Record<string, unknown>): Record<string, unknown> {
  // Not Object.keys(), which costs more than the copy. Own names only, before any is read (threat A42).
  for (const name in fields) {
    if (!Object.hasOwn(fields, name)) continue;
    const value = fields[name];
    if (typeof value === 'object' && value !== null) fields[name] = jsonCopy(value);
  }
  return fields;
}

function jsonCopy(value: object): unknown {
  try {
    return JSON.parse(JSON.stringify(value, withoutBigint));
  } catch {
    return undefined; // Nested so deeply that JSON.stringify cannot write it (threat A18).
  }
}

/** The size limit of a callback's body in bytes, before and after decompression, whether parsed before or not. */
export const MAX_BODY_BYTES: number = 65_536;

export function isLargerThanBody(text: string): boolean {
  // One UTF-16 unit is at most three bytes, so short text need not be encoded.
  return text.length * 3 > MAX_BODY_BYTES && encoder.encode(text).length > MAX_BODY_BYTES;
}

/** Tries without a replacer first: JSON.stringify is then faster. */
export function jsonText(data: unknown): string {
  try {
    return JSON.stringify(data) ?? '';
  } catch {
    return JSON.stringify(data, withoutBigint) ?? '';
  }
}

/** Some body parsers read long numbers as bigint, which JSON.stringify refuses. */
function withoutBigint(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** The hint for a value that cannot be a body. Undefined for text, bytes and objects, which get the general hint. */
export function malformedBody(body: unknown): string | undefined {
  const kind = kindOf(body);
  const isRead = ArrayBuffer.isView(body) || kind === 'a string' || kind === 'an Object';
  return isRead ? undefined : `The body is ${kind}.`;
}

/** The bytes of an ArrayBuffer, shared or not, from any realm, such as `await request.arrayBuffer()` returns. */
export function viewOf(body: unknown): Uint8Array | undefined {
  return kindOf(body).endsWith('ArrayBuffer') ? new Uint8Array(body as ArrayBuffer).slice() : undefined;
}
