import type { OptionRule } from '../options/options.ts';
import { encodingOf, isEncoded } from '../receive/request-body.ts';
import { jsonText, MAX_BODY_BYTES, viewOf } from '../verify/callback-body.ts';
import { isObject } from '../verify/json-members.ts';
import { readSignature } from '../verify/signature.ts';
import { SIGNED_NAMES, type SignedName } from '../verify/signed-fields.ts';
import type { Cause } from './causes.ts';

/** A request as a server, a log or a test may hold it. */
export interface ExplainedRequest {
  /** @default not looked at */
  readonly method?: string | undefined;
  /** The address or path that was called. @default not looked at */
  readonly url?: string | undefined;
  readonly headers:
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | Iterable<readonly [name: string, value: string]>;
  /** The bytes, the text, or the result of a body parser. */
  readonly body?: Uint8Array | ArrayBuffer | string | object | null | undefined;
}

/** One request in one form. `data` is plain JSON, whatever a parser's object hides. */
export interface Facts {
  readonly headers: ReadonlyMap<string, string>;
  /** Decompressed, if it was bytes in gzip or deflate; otherwise as it was passed. */
  readonly body: unknown;
  readonly bytes: Uint8Array;
  /** Undefined when the body is not UTF-8. */
  readonly text: string | undefined;
  readonly data: unknown;
}

/** One way to read a value, and the mistake that it assumes; undefined for the correct one. */
export interface Presumed {
  readonly cause: Cause | undefined;
  readonly detail: string;
}

/** `hash` is in lower-case hex. */
export interface LooseSignature extends Presumed {
  readonly t: string;
  readonly hash: string;
}

/** The five values in the order of their names. */
export interface Reading extends Presumed {
  readonly fields: readonly string[];
}

const MAX_HEADER = 2048;
const MAX_MEMBERS = 40;

/** What is no request at all is refused; what a request holds is an explanation. */
export const EXPLAINED: OptionRule = [
  (request) => {
    const { headers, method = '', url = '' } = Object(request);
    return isHolder(headers) && typeof method === 'string' && typeof url === 'string';
  },
  '{ headers, body }, with a method and a url that are strings or left out',
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
  const view = decompressed(bytesOf(body), headers.get('content-encoding'));
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

/** As a route reads it; in Node, since no other runtime decompresses without a promise. */
function decompressed(
  bytes: Uint8Array<ArrayBuffer> | undefined,
  header: string | undefined,
): Uint8Array<ArrayBuffer> | undefined {
  const encoding = encodingOf(header);
  if (bytes === undefined || encoding === undefined || !isEncoded(bytes, encoding)) return bytes;
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => Zlib } };
  const inflate = process?.getBuiltinModule?.('node:zlib').unzipSync;
  return attempt(() => inflate?.(bytes, { maxOutputLength: MAX_BODY_BYTES + 1 })) ?? bytes;
}

/** The part of node:zlib that is used, so that core needs no Node types. */
interface Zlib {
  unzipSync(bytes: Uint8Array, options: { maxOutputLength: number }): Uint8Array<ArrayBuffer>;
}

/** Unreadable input is expected here: it only omits this reading. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Every hash in the value of a header, whatever its form. */
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

type Members = Readonly<Record<string, unknown>>;
/** The objects that hold `event` and the other four fields. */
type Form = Presumed & { readonly top: Members; readonly inner: Members };
type Field = Presumed & { readonly value: string };

/** The ways to find the five fields: one, if the body has the protocol's form. */
export function readingsOf(data: unknown): readonly Reading[] {
  const form = formOf(data);
  if (form === undefined) return [];
  const holderOf = (name: SignedName): Members => (name === 'event' ? form.top : form.inner);
  const readingWith = (read: (name: SignedName) => Field): Reading => {
    const fields = SIGNED_NAMES.map(read);
    const deviating = [form, ...fields].filter(({ cause }) => cause !== undefined);
    const detail = `${deviating.map((one) => one.detail).join('; ')}.`;
    return { cause: deviating[0]?.cause, detail, fields: fields.map(({ value }) => value) };
  };
  // What programming languages write for a missing value when they join strings.
  const readings = ['', 'undefined', 'null', 'None'].map((hole) =>
    readingWith((name) => fieldOf(holderOf(name), name, hole)),
  );
  const [lost, ...more] = SIGNED_NAMES.filter((name) => isMissing(holderOf(name), name));
  if (lost === undefined || more.length > 0) return readings;
  // Any other string may be the lost one.
  const others = Object.entries(holderOf(lost)).slice(0, MAX_MEMBERS);
  const renamed = others.flatMap(([other, value]) =>
    typeof value !== 'string'
      ? []
      : readingWith((name) =>
          name === lost ? renamedField(name, other, value) : fieldOf(holderOf(name), name, ''),
        ),
  );
  return [...readings, ...renamed];
}

function formOf(data: unknown): Form | undefined {
  const top = unwrapped(data);
  if (!isObject(top)) return undefined;
  const payload = unwrapped(top['payload']);
  const inner = isObject(payload) ? payload : {};
  const form: Form = { cause: undefined, detail: '', top, inner };
  if (top !== data) return { ...form, cause: 'double_encoded', detail: 'The body is a JSON string' };
  if (inner === payload) {
    const isNested = typeof top['event'] !== 'string' && typeof inner['event'] === 'string';
    if (payload !== top['payload'])
      return { ...form, cause: 'double_encoded', detail: 'payload is a JSON string' };
    return isNested
      ? { cause: 'event_nested', detail: 'event is a member of payload', top: inner, inner }
      : form;
  }
  const members = Object.entries(top).slice(0, MAX_MEMBERS);
  for (const [name, value] of members) {
    if (isObject(value) && hasFields(value))
      return { cause: 'field_renamed', detail: `payload is called ${shownName(name)}`, top, inner: value };
  }
  if (!hasFields(top)) return form;
  return { cause: 'payload_flat', detail: 'There is no object payload', top, inner: top };
}

function unwrapped(value: unknown): unknown {
  return typeof value === 'string' ? (attempt(() => JSON.parse(value) as unknown) ?? value) : value;
}

const isMissing = (holder: Members, name: SignedName): boolean =>
  fieldOf(holder, name, '').cause === 'field_missing';

const hasFields = (holder: Members): boolean =>
  SIGNED_NAMES.some((name) => name !== 'event' && !isMissing(holder, name));

function fieldOf(holder: Members, name: SignedName, hole: string): Field {
  const isOwn = Object.hasOwn(holder, name);
  const alias = isOwn ? name : bareNames(holder).get(bare(name));
  const value = alias === undefined ? undefined : holder[alias];
  if (value === undefined) return { cause: 'field_missing', detail: `${name} is missing`, value: hole };
  if (value === null) return { cause: 'field_null', detail: `${name} is null`, value: hole };
  if (typeof value === 'string' && value.isWellFormed()) {
    return alias === name ? { cause: undefined, detail: '', value } : renamedField(name, alias ?? '', value);
  }
  const type = Array.isArray(value) ? 'array' : typeof value;
  const what = type === 'string' ? 'has half of a surrogate pair' : `is of type ${type}`;
  const text = attempt(() => String(value)) ?? hole;
  return { cause: 'field_not_string', detail: `${name} ${what}`, value: text.toWellFormed() };
}

function renamedField(name: SignedName, other: string, value: string): Field {
  return { cause: 'field_renamed', detail: `${name} is called ${shownName(other)}`, value };
}

/** The names of a holder by their bare forms; of two, the first. Made once: a body can have thousands (threat A45). */
function bareNames(holder: Members): ReadonlyMap<string, string> {
  const before = known.get(holder);
  if (before !== undefined) return before;
  const names = new Map<string, string>();
  for (const name of Object.keys(holder)) if (!names.has(bare(name))) names.set(bare(name), name);
  known.set(holder, names);
  return names;
}

const known = new WeakMap<Members, ReadonlyMap<string, string>>();

const bare = (name: string): string => name.replace(/[_\s-]/g, '').toLowerCase();

/** Names come from the sender: only what looks like a name is shown. */
export function shownName(name: string): string {
  return /^[a-z][a-z_-]{0,30}$/i.test(name) ? `"${name}"` : 'something else';
}
