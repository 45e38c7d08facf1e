import { spells, visitMembers } from './json-members.ts';
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
const encoder = new TextEncoder();

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
const NAMES: { readonly [Parent in 'callback' | 'payload']: readonly Uint8Array[] } = {
  callback: ['event', 'payload'].map((name) => encoder.encode(name)),
  payload: SIGNED_NAMES.filter((name) => name !== 'event').map((name) => encoder.encode(name)),
};
const WATCHED =
  /"(?:payload|event|merchant_reference|internal_reference|transaction_(?:type|status))"[ \t\n\r]*:/g;
/** A name of letters in which an escape may hide one. The longest has 18 letters, each of six characters at most. */
const ESCAPED_NAME = /"(?=\w*\\u)[\w\\]{5,108}"[ \t\n\r]*:/;

/** One pass, which ends at the first repetition: it costs less than JSON.parse did (threat A18). */
function repeatsSignedName(text: string): boolean {
  // Nearly every body is settled here. All of the names must be present for a callback to verify, so as many matches as names
  // mean that none repeats; and only a \u escape can hide a letter.
  const names = SIGNED_NAMES.length + 1;
  let count = 0;
  WATCHED.lastIndex = 0;
  while (count <= names && WATCHED.test(text)) count++;
  if (count === names && !(text.includes('\\u') && ESCAPED_NAME.test(text))) return false;
  const seen = { callback: 0, payload: 0 };
  let isRepeated = false;
  const json = encoder.encode(text);
  visitMembers(json, (parent, start, end) => {
    let bit = 1;
    for (const name of NAMES[parent]) {
      if (spells(json, start, end, name)) {
        isRepeated = (seen[parent] & bit) !== 0;
        seen[parent] |= bit;
        return isRepeated;
      }
      bit <<= 1;
    }
    return false;
  });
  return isRepeated;
}

/**
 * What a verified callback keeps of a body: of a parsed one, a copy, since other code has the parsed object and may change it
 * before the handler reads an amount or stores the body (threat A48).
 */
export function keptBody({ data, payload, text }: ReadBody): Pick<ReadBody, 'data' | 'payload'> {
  if (text !== undefined) return { data, payload };
  try {
    const fields = { ...payload };
    const copy = { ...data, payload: fields };
    // The contract has no value deeper than these. Where there is one, all is copied as JSON.
    return { data: isFlat(copy, fields) && isFlat(fields) ? copy : deepCopy(copy, fields), payload: fields };
  } catch {
    return { data: {}, payload: {} }; // A proxy that throws now.
  }
}

function deepCopy(data: object, payload: object): object {
  try {
    return JSON.parse(jsonText(data)) as object;
  } catch {
    // Nested so deeply that JSON.stringify cannot write it (threat A18): what is deep is left out.
    const shallow = (_name: string, value: unknown): unknown =>
      value === data || value === payload || !isDeep(value) ? value : undefined;
    return JSON.parse(jsonText(data, shallow)) as object;
  }
}

function isFlat(object: object, inner?: object): boolean {
  for (const value of Object.values(object)) if (isDeep(value) && value !== inner) return false;
  return true;
}

function isDeep(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The size limit of a callback's body, in bytes: before and after decompression, parsed before or not. */
export const MAX_BODY_BYTES: number = 64 * 1024;

export function isLargerThanBody(text: string): boolean {
  // One UTF-16 unit is at most three bytes: short text is not encoded.
  return text.length * 3 > MAX_BODY_BYTES && encoder.encode(text).length > MAX_BODY_BYTES;
}

/** Some body parsers read long numbers as bigint, which JSON.stringify refuses; without a function, it is faster. */
export function jsonText(data: unknown, replace = (_name: string, value: unknown): unknown => value): string {
  try {
    return JSON.stringify(data) ?? '';
  } catch {
    const written = (name: string, value: unknown): unknown =>
      typeof value === 'bigint' ? String(value) : replace(name, value);
    return JSON.stringify(data, written) ?? '';
  }
}
