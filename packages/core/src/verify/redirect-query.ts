import { ConfigurationError } from '../errors.ts';
import { checkOptions, type OptionRule, type OptionRules } from '../options.ts';
import type { SignedName } from './signed-fields.ts';
import { UNSIGNED_NAMES } from './unsigned-fields.ts';

/** What can be renamed in a redirect's query, since its wire form is not shown. */
export type RedirectField = SignedName | 'hmac_signature';
/** Our name → the parameter's name in the query. */
export type RedirectFields = { readonly [Name in RedirectField]?: string };
/** Our name → the value that an absent parameter has. */
export type RedirectDefaults = { readonly [Name in 'event' | 'transaction_type']?: string };

/** How the queries of this account are read. */
export interface QueryForm {
  /** Every accepted spelling of a parameter → our name. */
  readonly names: ReadonlyMap<string, string>;
  readonly maxNameLength: number;
  readonly defaults: RedirectDefaults;
}

export interface ReadQuery {
  readonly fields: ReadonlyMap<string, string>;
  readonly raw: Readonly<Record<string, string | readonly string[]>>;
}

const MAX_LENGTH = 8192;
const MAX_PAIRS = 128;
const NAME: OptionRule = [
  (value) => typeof value === 'string' && value !== '' && value.isWellFormed(),
  'a non-empty string',
];
const DEFAULT_RULES: OptionRules<RedirectDefaults> = { event: NAME, transaction_type: NAME };
const FIELD_RULES: OptionRules<RedirectFields> = {
  ...DEFAULT_RULES,
  merchant_reference: NAME,
  internal_reference: NAME,
  transaction_status: NAME,
  hmac_signature: NAME,
};
const RENAMEABLE: readonly string[] = Object.keys(FIELD_RULES);

/**
 * Which parameter names are known: flat names by default, and `payload[…]` for what a callback has in its payload. A name
 * given in `redirectFields` replaces both.
 *
 * @throws {ConfigurationError} Names the option.
 */
export function queryForm(renamed: RedirectFields = {}, defaults: RedirectDefaults = {}): QueryForm {
  checkOptions('redirectFields', renamed, FIELD_RULES, 'redirectFields.');
  checkOptions('redirectDefaults', defaults, DEFAULT_RULES, 'redirectDefaults.');
  const names = new Map<string, string>();
  const add = (wireName: string, slot: string): void => {
    if (names.has(wireName)) {
      throw new ConfigurationError(
        'redirectFields',
        `redirectFields gives the parameter "${wireName}" to two fields.`,
      );
    }
    names.set(wireName, slot);
  };
  for (const [slot, wireName] of Object.entries(renamed)) if (wireName !== undefined) add(wireName, slot);
  const given = new Set(names.values());
  for (const slot of [...RENAMEABLE, ...UNSIGNED_NAMES]) {
    if (given.has(slot)) continue;
    add(slot, slot);
    if (slot !== 'event' && slot !== 'hmac_signature') add(`payload[${slot}]`, slot);
  }
  const maxNameLength = Math.max(...[...names.keys()].map((name) => name.length));
  return { names, maxNameLength, defaults: { ...defaults } };
}

/**
 * Reads a redirect's query; undefined when it is malformed. The same bytes are read in the same way under every framework,
 * whose own parsers differ in repeated names (threat A14) and invalid escapes (threat A15). The cost is linear
 * in the length, which is limited for every form of query (threat A29).
 *
 * A repeated signed name is malformed. A repeated unsigned name may be the merchant's own parameter (`?id=7`): which of the
 * two is meant is unknown, so `unsigned` has neither, and `raw` has both.
 *
 * @param query The raw query, a path or URL that contains it, or a parsed one.
 */
export function readRedirectQuery(query: unknown, form: QueryForm): ReadQuery | undefined {
  const pairs = pairsOf(query);
  if (pairs === undefined) return undefined;
  const { names, defaults } = form;
  const fields = new Map<string, string>();
  const repeated: string[] = [];
  const raw: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const slot = names.get(name);
    if (slot === undefined) {
      if (isBracketed(name, form)) return undefined;
    } else if (!fields.has(slot)) fields.set(slot, value);
    else if (RENAMEABLE.includes(slot)) return undefined;
    else repeated.push(slot);
    const earlier = raw[name];
    if (earlier === undefined) raw[name] = value;
    else if (typeof earlier === 'string') raw[name] = [earlier, value];
    else earlier.push(value);
  }
  for (const slot of repeated) fields.delete(slot);
  for (const [slot, value] of Object.entries(defaults)) {
    if (value !== undefined && !fields.has(slot)) fields.set(slot, value);
  }
  return { fields, raw: Object.freeze(raw) };
}

/** `event[]`, `event[x]`, `payload[merchant_reference][0]`: a parser could read the signed name from it. */
function isBracketed(name: string, { names, maxNameLength }: QueryForm): boolean {
  for (let at = name.indexOf('['); at > 0 && at <= maxNameLength; at = name.indexOf('[', at + 1)) {
    if (RENAMEABLE.includes(names.get(name.slice(0, at)) ?? '')) return true;
  }
  return false;
}

type Pair = readonly [name: string, value: string];

function pairsOf(query: unknown): Pair[] | undefined {
  try {
    if (typeof query === 'string') return splitQuery(query);
    if (query instanceof URL) return splitQuery(query.search);
    return query instanceof URLSearchParams ? boundedPairs(query) : undefined;
  } catch {
    return undefined; // An invalid escape, a proxy that throws, or an object that only borrows the prototype.
  }
}

function splitQuery(text: string): Pair[] | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const parts = rawQuery(text).split('&', MAX_PAIRS + 1);
  if (parts.length > MAX_PAIRS) return undefined;
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals === -1
        ? [decode(part), '']
        : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))];
    });
}

/** Already decoded: an invalid escape is U+FFFD by now, and can no longer be told from a genuine one. */
function boundedPairs(params: URLSearchParams): Pair[] | undefined {
  const pairs: Pair[] = [];
  let length = -1; // No '&' in front of the first.
  for (const [name, value] of params) {
    length += name.length + value.length + 2;
    if (pairs.length === MAX_PAIRS || length > MAX_LENGTH) return undefined;
    if (name.includes('\ufffd') || value.includes('\ufffd')) return undefined;
    pairs.push([name, value]);
  }
  return pairs;
}

/** What follows the first '?' of a path or URL; a raw query may begin with '?'. Without the fragment. */
function rawQuery(text: string): string {
  const [beforeHash = ''] = text.split('#', 1);
  if (beforeHash.startsWith('?')) return beforeHash.slice(1);
  if (!/^(\/|https?:\/\/)/i.test(beforeHash)) return beforeHash;
  const mark = beforeHash.indexOf('?');
  return mark === -1 ? '' : beforeHash.slice(mark + 1);
}

/** Strict: throws for invalid escapes and for every byte sequence that is not UTF-8. */
function decode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}
