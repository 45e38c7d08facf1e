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
  /** What a name begins with that a parser could take for a signed one: `event[]`, `payload[merchant_reference][0]`. */
  readonly bracketed: readonly string[];
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
      const message = `redirectFields gives the parameter "${wireName}" to two fields.`;
      throw new ConfigurationError('redirectFields', message);
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
  const bracketed = [...names].filter(([, slot]) => RENAMEABLE.includes(slot)).map(([name]) => `${name}[`);
  return { names, bracketed, defaults: { ...defaults } };
}

/**
 * Reads a redirect's query; undefined when it is malformed. The same bytes are read in the same way under every framework,
 * whose own parsers differ in repeated names (threat A14) and invalid escapes (threat A15). The cost is linear
 * in the length, which is limited for every form of query (threat A29).
 *
 * A repeated signed name is malformed. A repeated unsigned name may be the merchant's own parameter (`?id=7`): which of the
 * two is meant is unknown, so `unsigned` has neither, and `raw` has both.
 *
 * @param query The raw query, a path or URL that contains it, or a parsed one, whose limit is that of its encoded form.
 */
export function readRedirectQuery(query: unknown, form: QueryForm): ReadQuery | undefined {
  const pairs = pairsOf(query);
  if (pairs === undefined) return undefined;
  const { names, bracketed, defaults } = form;
  const fields = new Map<string, string>();
  const repeated: string[] = [];
  const raw: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const slot = names.get(name);
    if (slot === undefined) {
      if (bracketed.some((prefix) => name.startsWith(prefix))) return undefined;
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

function pairsOf(query: unknown): [name: string, value: string][] | undefined {
  try {
    const text = textOf(query);
    if (text === undefined || text.length > MAX_LENGTH) return undefined;
    const parts = rawQuery(text).split('&', MAX_PAIRS + 1);
    if (parts.length > MAX_PAIRS) return undefined;
    return parts
      .filter((part) => part !== '')
      .map((part) => {
        const equals = part.indexOf('=');
        if (equals === -1) return [decode(part), ''];
        return [decode(part.slice(0, equals)), decode(part.slice(equals + 1))];
      });
  } catch {
    return undefined; // An invalid escape, a proxy that throws, or an object that only borrows the prototype.
  }
}

function textOf(query: unknown): string | undefined {
  if (typeof query === 'string') return query;
  if (query instanceof URL) return query.search;
  const text = query instanceof URLSearchParams ? String(query) : undefined;
  // Decoded before: an invalid escape is U+FFFD by now, and can no longer be told from a genuine one.
  return text?.includes('%EF%BF%BD') ? undefined : text;
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
  return decodeURIComponent(text.includes('+') ? withSpaces(text) : text);
}

/** As replaceAll('+', ' '), which costs a search for each of up to 8,192 plus signs (threat A29). */
function withSpaces(text: string): string {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    units[at] = unit === PLUS ? SPACE : unit;
  }
  return Reflect.apply(String.fromCharCode, undefined, units);
}

const PLUS = 0x2b;
const SPACE = 0x20;
