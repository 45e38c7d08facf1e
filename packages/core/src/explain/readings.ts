import type { OptionRule } from '../options/options.ts';
import { jsonText, jsonValue, viewOf } from '../verify/callback-body.ts';
import { isObject } from '../verify/json-members.ts';
import { readSignature } from '../verify/signature.ts';
import { SIGNED_NAMES } from '../verify/signed-fields.ts';
import type { Cause } from './causes.ts';

/** A request as a server, a log or a test may represent it. */
export interface ExplainedRequest {
  /** @default not checked */
  readonly method?: string | undefined;
  /** The address or path that was called. @default not checked */
  readonly url?: string | undefined;
  readonly headers:
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | Iterable<readonly [name: string, value: string]>;
  /** The decompressed bytes, the text, or the result of a body parser. */
  readonly body?: Uint8Array | ArrayBuffer | string | object | null | undefined;
}

/** A request in one normal form. `data` is plain JSON, whatever a parser's object hides. */
export interface Facts {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: unknown;
  readonly bytes: Uint8Array;
  /** Undefined when the body is not UTF-8. */
  readonly text: string | undefined;
  readonly data: unknown;
}

/** An assumed mistake; `cause` is undefined for the correct value. */
export interface Presumed {
  readonly cause: Cause | undefined;
  readonly detail: string;
}

/** `hash` is in lower-case hex. */
export interface LooseSignature extends Presumed {
  readonly t: string;
  readonly hash: string;
}

const MAX_HEADER = 2048;

/** Refuses what is not a request at all. Anything wrong inside a request becomes an explanation instead. */
export const EXPLAINED: OptionRule = [
  (request) => {
    const { headers, method = '', url = '' } = Object(request);
    return isHolder(headers) && typeof method === 'string' && typeof url === 'string';
  },
  '{ headers, body }, with method and url as strings or left out',
];

const isHolder = (value: unknown): boolean => typeof value === 'object' && value !== null;

export function readFacts({ headers: given, body }: ExplainedRequest): Facts {
  const headers = new Map<string, string>();
  const entries = attempt(() => [...(Symbol.iterator in given ? given : Object.entries(given))]) ?? [];
  for (const [name, value] of entries.filter((entry) => typeof entry?.[0] === 'string')) {
    const earlier = headers.get(name.toLowerCase());
    const text = attempt(() => [earlier ?? [], value].flat().join(', '));
    if (value !== undefined && text !== undefined) headers.set(name.toLowerCase(), text);
  }
  const view = bytesOf(body);
  const written = attempt(() => (typeof body === 'string' ? body : jsonText(body ?? undefined)));
  const bytes = view ?? new TextEncoder().encode(written ?? '');
  const text = view === undefined ? written : attempt(() => decoder.decode(view));
  return {
    headers,
    body: view ?? body,
    bytes,
    text,
    data: attempt(() => JSON.parse((text ?? '').replace(/^\ufeff/, ''))),
  };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A copy of the bytes of a view or buffer, whatever its memory. */
function bytesOf(body: unknown): Uint8Array<ArrayBuffer> | undefined {
  return attempt(() => {
    const view = ArrayBuffer.isView(body) ? body : viewOf(body);
    return view && Uint8Array.from(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  });
}

/** Unreadable input is expected here: it only skips this reading. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Every hash in a header value, whatever its form. */
export function looseSignatures(value: string): readonly LooseSignature[] {
  const strict = readSignature(value);
  if (typeof strict === 'object') return [{ cause: undefined, detail: '', t: strict.t, hash: strict.s }];
  const start = value.slice(0, MAX_HEADER);
  const plain = attempt(() => decodeURIComponent(start)) ?? start;
  const parts = plain
    .split(/[\s,;&"']+/)
    .map((part) => /^([a-z]\w{0,9})=(.+)$/i.exec(part) ?? ['', '', part]);
  const times = parts.flatMap(([, name, text = '']) => (name === 't' ? [text] : []));
  const hashes = parts.flatMap(([, name, text = '']) => (name === 't' ? [] : (hashOf(text) ?? [])));
  const whole: Partial<Presumed> = {
    ...(plain !== start && {
      cause: 'signature_percent_encoded',
      detail: `It has ${start.split('%').length - 1} percent escapes.`,
    }),
    ...((hashes.length > 1 || times.length > 1) && {
      cause: 'signature_repeated',
      detail: `It holds ${hashes.length} hashes and ${times.length} values of t.`,
    }),
  };
  return hashes.map((one) => ({ ...one, ...whole, t: times[0] ?? '' }));
}

function hashOf(text: string): (Presumed & { readonly hash: string }) | undefined {
  const hash = text.toLowerCase();
  if (/^[\da-f]{8,128}$/.test(hash)) {
    const detail = `The hash has ${hash.length} hex digits, ${text.replace(/[^A-F]/g, '').length} of them capitals.`;
    if (hash.length < 64) return { cause: 'signature_truncated', detail, hash };
    const cause = hash.length === 64 && text !== hash ? 'uppercase_hex' : 'signature_malformed';
    return { cause, detail, hash };
  }
  const bytes = /^[\w+/-]{43}=?$/.test(text) ? base64Bytes(text) : undefined;
  const detail = `The hash has ${text.length} characters of Base64.`;
  return bytes && { cause: 'base64_digest', detail, hash: Array.from(bytes, hexOf).join('') };
}

const hexOf = (byte: number): string => byte.toString(16).padStart(2, '0');

export function base64Bytes(text: string): Uint8Array | undefined {
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  return attempt(() => Uint8Array.from(atob(standard), (character) => character.charCodeAt(0)));
}

/** The values of the five signed names, in their order; undefined if the body is not a JSON object. */
export function valuesOf(data: unknown): readonly unknown[] | undefined {
  if (!isObject(data)) return undefined;
  return SIGNED_NAMES.map((name) => jsonValue(name === 'event' ? data : Object(data['payload']), name));
}

/** Whether a value can be signed: a lone surrogate would be encoded as another character. */
export function isSignable(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

/** Names come from the sender, so only what looks like a name is shown. */
export function shownName(name: string): string {
  return /^[a-z][a-z_-]{0,30}$/i.test(name) ? `"${name}"` : 'something else';
}
