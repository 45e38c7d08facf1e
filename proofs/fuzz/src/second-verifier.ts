import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { type Node, type ParseError, parseTree } from 'jsonc-parser';

/** In the order of protocol §5.2. */
export const NAMES = [
  'event',
  'merchant_reference',
  'internal_reference',
  'transaction_type',
  'transaction_status',
] as const;

interface RingKey {
  readonly id: string;
  readonly key: string;
  readonly not_after?: string;
}

/** The options of a vector in openapi/signature-vectors.json. */
export interface VectorOptions {
  readonly signing_key?: string;
  readonly signing_keys?: readonly RingKey[];
  readonly tolerance_seconds?: number;
  readonly colon_in?: 'merchant_reference' | 'internal_reference';
  readonly merchant_reference_pattern?: string;
  readonly redirect_defaults?: { readonly event?: string; readonly transaction_type?: string };
  readonly now_ms: number;
}

export type Unit = 'seconds' | 'milliseconds' | 'unreadable';
export type Verdict =
  | { readonly code: 'ok'; readonly fields: readonly string[]; readonly keyId: string; readonly unit: Unit }
  /** `or` is another code, if the documents leave the order of two reasons open. */
  | { readonly code: string; readonly authentic: boolean; readonly or?: string };

type Refused = { readonly code: string; readonly authentic: boolean; readonly or?: string };
type Header = { readonly t: string; readonly s: string } | Refused;
type Signature = Exclude<Header, Refused>;
interface Fields {
  readonly fields: readonly string[];
  readonly isTwice: boolean;
  /** One for each key, once needed. */
  digests?: readonly string[];
}
type Claim = Fields | Refused;

/**
 * A second verifier, which judges core. It follows docs/protocol.md §5.2 and the refusals that decisions D2, D4 to D7 and D11
 * declare, was written before its author had seen core's verifier, and imports nothing from it: a library that keeps repeated
 * names reads the JSON, and the HMAC is OpenSSL's. What it has read is cached until `forget()`, since a batch repeats its parts.
 */
export class SecondVerifier {
  readonly #options: VectorOptions;
  readonly #keys: readonly RingKey[];
  readonly #secrets: readonly KeyObject[];
  readonly #reference: RegExp | undefined;
  readonly #headers = new Map<unknown, Header>();
  readonly #bodies = new Map<unknown, Claim>();
  readonly #digests: readonly Map<string, string>[];

  constructor(options: VectorOptions) {
    const { signing_key = '', signing_keys, merchant_reference_pattern: pattern } = options;
    this.#options = options;
    this.#keys = signing_keys ?? [{ id: '', key: signing_key }];
    this.#secrets = this.#keys.map(({ key }) => createSecretKey(key, 'utf8'));
    this.#reference = pattern === undefined ? undefined : new RegExp(pattern, 'u');
    this.#digests = this.#keys.map(() => new Map());
  }

  /** Clears the cache. */
  forget(): void {
    for (const kept of [this.#headers, this.#bodies, ...this.#digests]) kept.clear();
  }

  callback(signature: unknown, body: unknown): Verdict {
    const header = kept(this.#headers, signature, readHeader);
    if ('code' in header) return header;
    return this.#decide(header, kept(this.#bodies, body, readBody), undefined);
  }

  redirect(query: string, expected: string | undefined): Verdict {
    const pairs = readQuery(query);
    if (pairs === undefined) return refuse('query_malformed');
    const header = readHeader(pairs.get('hmac_signature'));
    if ('code' in header) return header;
    const { redirect_defaults } = this.#options;
    const values = NAMES.map((name) => {
      const given = pairs.get(name);
      return given === undefined && (name === 'event' || name === 'transaction_type')
        ? redirect_defaults?.[name]
        : given;
    });
    const fields = values.filter((value) => value !== undefined);
    if (fields.length !== NAMES.length) return refuse('signed_field_malformed');
    return this.#decide(header, { fields, isTwice: false }, expected);
  }

  /** The HMAC of the five fields as in protocol §5.2: a vector's `s`. */
  digest(fields: readonly string[], key = 0): string {
    const joined = fields.join(':');
    return kept(this.#digests[key] ?? new Map<string, string>(), joined, (message) =>
      createHmac('sha256', this.#secrets[key] ?? '')
        .update(message, 'utf8')
        .digest('hex'),
    );
  }

  #decide({ s, t }: Signature, claim: Claim, expected: string | undefined): Verdict {
    if ('code' in claim) return claim;
    const { now_ms, tolerance_seconds } = this.#options;
    const { fields, isTwice } = claim;
    claim.digests ??= this.#keys.map((_, index) => this.digest(fields, index));
    const { digests } = claim;
    const signers = this.#keys.filter((_, index) => digests[index] === s);
    const signer = signers.find(
      ({ not_after }) => not_after === undefined || now_ms <= Date.parse(not_after),
    );
    if (isTwice) return refuse('body_malformed', signer !== undefined);
    if (signer === undefined) return refuse(signers.length === 0 ? 'mismatch' : 'key_expired');
    if (!this.#hasOneReading(fields)) return refuse('ambiguous', true);
    const [unit, ms] = readTime(t);
    if (tolerance_seconds !== undefined) {
      if (unit === 'unreadable') return refuse('timestamp_unreadable', true);
      if (Math.abs(now_ms - ms) > Math.round(tolerance_seconds * 1000))
        return refuse('timestamp_out_of_tolerance', true);
    }
    if (expected !== undefined && fields[1] !== expected) return refuse('reference_unexpected', true);
    return { code: 'ok', fields, keyId: signer.id, unit };
  }

  /** Decision D4. */
  #hasOneReading(fields: readonly string[]): boolean {
    const { colon_in } = this.#options;
    const isReference = this.#reference;
    if (fields.some((field, index) => field.includes(':') && NAMES[index] !== colon_in)) return false;
    if (isReference === undefined) return true;
    const [, merchant = '', internal = ''] = fields;
    const both = `${merchant}:${internal}`;
    const readings: string[] = [];
    for (let at = both.indexOf(':'); at >= 0; at = both.indexOf(':', at + 1))
      if (isReference.test(both.slice(0, at))) readings.push(both.slice(0, at));
    return readings.length === 1 && readings[0] === merchant;
  }
}

function kept<K, V>(map: Map<K, V>, key: K, make: (key: K) => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make(key);
  map.set(key, value);
  return value;
}

function refuse(code: string, authentic = false): Refused {
  return { code, authentic };
}

/** Parts between commas: a name, `=` and a value, neither of them empty. */
const HEADER = /^[^=,]+=[^=,]+(?:,[^=,]+=[^=,]+)*$/;
const PART = /([^=,]+)=([^=,]+)/g;
const SPACE_OR_CONTROL = /[\p{Cc} \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/u;
const HASH = /^[0-9a-f]{64}$/;
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Protocol §5.2, step 1, and decision D6. */
function readHeader(value: unknown): Header {
  if (value === undefined || value === null || value === '') return refuse('signature_missing');
  const malformed = refuse('signature_malformed');
  if (typeof value !== 'string' || value.length > 256) return malformed;
  if (!HEADER.test(value) || SPACE_OR_CONTROL.test(value)) return malformed;
  const known = [...value.matchAll(PART)].filter(([, name]) => name === 't' || name === 's');
  const { t, s } = Object.fromEntries(known.map(([, name, given]) => [name, given]));
  if (known.length !== 2 || t === undefined || s === undefined || !HASH.test(s)) return malformed;
  return { t, s };
}

/** Decision D2: digits only, and 1e11 or more are milliseconds. */
function readTime(t: string): [Unit, ms: number] {
  if (!/^[0-9]+$/.test(t)) return ['unreadable', 0];
  const value = Number(t);
  return value >= 1e11 ? ['milliseconds', value] : ['seconds', value * 1000];
}

/** Decisions D5 and D10. */
function readBody(body: unknown): Claim {
  const outer = membersOf(rootOf(body));
  const inner = membersOf(outer?.get('payload')?.at(-1));
  if (outer === undefined || inner === undefined) return refuse('body_malformed');
  const signed = NAMES.map((name) => (name === 'event' ? outer : inner).get(name) ?? []);
  const isTwice = [...signed, outer.get('payload') ?? []].some((values) => values.length > 1);
  const fields: string[] = [];
  for (const values of signed) {
    const value: unknown = values.at(-1)?.value;
    if (typeof value === 'string' && value.isWellFormed()) fields.push(value);
  }
  if (fields.length === NAMES.length) return { fields, isTwice };
  const malformed = refuse('signed_field_malformed');
  return isTwice ? { ...refuse('body_malformed'), or: malformed.code } : malformed;
}

/** A parsed body is read again, as the text of its own members. Undefined if the body is not JSON. */
function rootOf(body: unknown): Node | undefined {
  const errors: ParseError[] = [];
  try {
    const isParsed = typeof body !== 'string' && !(body instanceof Uint8Array);
    const text = isParsed ? JSON.stringify(body) : typeof body === 'string' ? body : UTF_8.decode(body);
    const root = parseTree(text.replace(/^\ufeff/, ''), errors, { disallowComments: true });
    return errors.length === 0 ? root : undefined;
  } catch {
    // Not UTF-8, or deeper than the reader recurses: the deepest vectors are no callbacks.
    return undefined;
  }
}

/** The values of each name of an object, in the order of the text. */
function membersOf(node: Node | undefined): ReadonlyMap<string, readonly Node[]> | undefined {
  if (node?.type !== 'object') return undefined;
  const members = new Map<string, Node[]>();
  for (const { children: [name, value] = [] } of node.children ?? [])
    if (name && value) kept(members, name.value, () => []).push(value);
  return members;
}

const ADDRESS = /^(\/|https?:\/\/)/i;
/** The signed names of parameters, in `payload[…]` or flat, and the brackets that follow one. */
const NESTED = new RegExp(`^payload\\[(${NAMES.slice(1).join('|')})\\](\\[.*)?$`, 's');
const FLAT = new RegExp(`^(${NAMES.join('|')}|hmac_signature)(\\[.*)?$`, 's');

/** Decision D11. A query ends at `#` (RFC 3986, section 3.4), and may be part of a path or an address. */
function readQuery(query: string): ReadonlyMap<string, string> | undefined {
  if (query.length > 8192) return undefined;
  const [before = ''] = query.split('#', 1);
  const text = before.replace(ADDRESS.test(before) ? /^[^?]*\??/ : /^\?/, '');
  const all = text.split('&');
  if (all.length > 128) return undefined;
  const found = new Map<string, string>();
  for (const pair of all) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = percentDecode(equals < 0 ? pair : pair.slice(0, equals));
    const value = percentDecode(equals < 0 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    const [, signed, rest] = NESTED.exec(name) ?? FLAT.exec(name) ?? [];
    if (signed === undefined) continue;
    if (rest !== undefined || found.has(signed)) return undefined;
    found.set(signed, value);
  }
  return found;
}

/** Strict form encoding: a `+` is a space, and escapes have two digits and are UTF-8. Undefined otherwise. */
function percentDecode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
