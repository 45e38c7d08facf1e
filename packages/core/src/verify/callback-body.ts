import { visitMembers } from './json-members.ts';
import { SIGNED_NAMES } from './signed-fields.ts';

/** What a callback's body may be handed in as: the raw bytes, their text, or what a body parser made of them. */
export type CallbackBody = Uint8Array | string | object;

export interface ReadBody {
  readonly data: object;
  readonly payload: object;
  /** The JSON text, where the body came unparsed: the only place where an amount stands exactly. */
  readonly text: string | undefined;
  /** A name under the signature stands twice: two parsers could read two values (threat A17). */
  readonly repeatsSignedName: boolean;
}

// `ignoreBOM: false` skips a leading byte order mark, as the body parsers of the frameworks do: one verdict for the
// same bytes, parsed before or not. `fatal`: invalid bytes would all decode to U+FFFD and collide (threat A8).
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const BYTE_ORDER_MARK = '\ufeff';

/** Undefined where the body is not a JSON object with an object `payload`. */
export function readCallbackBody(body: unknown): ReadBody | undefined {
  const text = ArrayBuffer.isView(body) ? decode(body as Uint8Array<ArrayBuffer>) : withoutMark(body);
  const data = typeof text === 'string' ? parse(text) : text;
  if (!isObject(data)) return undefined;
  const payload = ownValue(data, 'payload');
  if (!isObject(payload)) return undefined;
  const jsonText = typeof text === 'string' ? text : undefined;
  return {
    data,
    payload,
    text: jsonText,
    repeatsSignedName: jsonText !== undefined && repeatsSignedName(jsonText),
  };
}

/**
 * An own data property, or undefined. Never a getter, never the prototype: a parsed body can carry `__proto__`, and
 * a hostile one can be a proxy whose traps throw, which counts as "not there".
 */
export function ownValue(data: object, name: string): unknown {
  try {
    return Object.getOwnPropertyDescriptor(data, name)?.value;
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function withoutMark(body: unknown): unknown {
  return typeof body === 'string' && body.startsWith(BYTE_ORDER_MARK) ? body.slice(1) : body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  try {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false; // Array.isArray throws on a revoked proxy.
  }
}

const WATCHED = new RegExp(`"(?:payload|${SIGNED_NAMES.join('|')})"`, 'g');

function repeatsSignedName(text: string): boolean {
  // Nearly every body is settled here, without a second walk: each name stands once, and no name can hide in an
  // escape (only a \u escape can spell a letter).
  const found = text.match(WATCHED) ?? [];
  if (new Set(found).size === found.length && !text.includes('\\u')) return false;
  const seen = new Set<string>();
  let repeats = false;
  visitMembers(text, (parent, name) => {
    const isWatched =
      parent === 'callback' ? name === 'event' || name === 'payload' : isSignedInPayload(name);
    if (!isWatched) return;
    if (seen.has(name)) repeats = true;
    seen.add(name);
  });
  return repeats;
}

function isSignedInPayload(name: string): boolean {
  return name !== 'event' && (SIGNED_NAMES as readonly string[]).includes(name);
}
