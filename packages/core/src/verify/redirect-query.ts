import { ConfigurationError } from '../errors.ts';
import { checkOptions, type OptionRule, type OptionRules } from '../options/options.ts';
import { SIGNED_NAMES, type SignedName } from './signed-fields.ts';
import { UNSIGNED_NAMES } from './unsigned-fields.ts';

/** The fields that can be renamed in a redirect's query, since its wire form is not shown. */
export type RedirectField = SignedName | 'hmac_signature';
/** Our name → the parameter's name in the query. */
export type RedirectFields = { readonly [Name in RedirectField]?: string | undefined };
/** Our name → the value if the parameter is absent. */
export type RedirectDefaults = { readonly [Name in 'event' | 'transaction_type']?: string | undefined };

/** How to read the queries of this account. */
export interface QueryForm {
  /** Every accepted spelling of a parameter → our name. */
  readonly names: ReadonlyMap<string, string>;
  /** Prefixes of names that a parser could take for a signed one: `event[]`, `payload[merchant_reference][0]`. */
  readonly bracketed: readonly string[];
  readonly defaults: RedirectDefaults;
}

export interface ReadQuery {
  readonly fields: ReadonlyMap<string, string | undefined>;
  readonly raw: () => Readonly<Record<string, string | readonly string[]>>;
}

const MAX_LENGTH = 8192;
const MAX_PAIRS = 128;
/** The part before the query in a path or URL. A raw query may begin with '?'. Anything from '#' on is removed separately. */
const BEFORE_QUERY = /^(?:(?:\/|https?:\/\/)[^?#]*)?\??/i;
const NAME: OptionRule = [
  (value) => typeof value === 'string' && value !== '' && value.isWellFormed(),
  'a non-empty string',
];
const DEFAULT_RULES: OptionRules<RedirectDefaults> = { event: NAME, transaction_type: NAME };
const RENAMEABLE: readonly string[] = /* @__PURE__ */ ['hmac_signature'].concat(SIGNED_NAMES);
const FIELD_RULES = /* @__PURE__ */ Object.fromEntries(
  RENAMEABLE.map((name) => [name, NAME]),
) as OptionRules<RedirectFields>;

/**
 * Collects the known parameter names: flat names by default, and `payload[…]` for the payload fields of a callback. A name in
 * `redirectFields` replaces both.
 *
 * @throws {ConfigurationError} Names the option.
 */
export function queryForm(renamed: RedirectFields = {}, defaults: RedirectDefaults = {}): QueryForm {
  checkOptions('redirectFields', renamed, FIELD_RULES, 'redirectFields.');
  checkOptions('redirectDefaults', defaults, DEFAULT_RULES, 'redirectDefaults.');
  const names = new Map<string, string>();
  const add = (wireName: string, slot: string): void => {
    if (names.has(wireName)) {
      const message = `redirectFields maps "${wireName}" to two fields.`;
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
 * Reads a redirect's query; returns undefined if it is malformed. The same bytes are read in the same way in every framework;
 * their own parsers differ in repeated names (threat A14) and invalid escapes (threat A15). The cost is linear in the length,
 * which is limited for every form of query (threat A29).
 *
 * A repeated signed name is malformed. A repeated unsigned name may be the merchant's own parameter (`?id=7`). Which of the two
 * is meant is unknown, so `unsigned` has neither and `raw` has both.
 *
 * @param query The raw query, a path or URL that contains it, or a parsed query, whose encoded form must be within the limit.
 */
export function readRedirectQuery(query: unknown, form: QueryForm): ReadQuery | undefined {
  const pairs = pairsOf(query);
  if (pairs === undefined) return undefined;
  const { names, bracketed, defaults } = form;
  const fields = new Map<string, string | undefined>();
  for (const [name, value] of pairs) {
    const slot = names.get(name);
    if (slot === undefined) {
      if (bracketed.some((prefix) => name.startsWith(prefix))) return undefined;
    } else if (!fields.has(slot)) fields.set(slot, value);
    else if (RENAMEABLE.includes(slot)) return undefined;
    else fields.set(slot, undefined);
  }
  for (const [slot, value] of Object.entries(defaults)) {
    if (value !== undefined && !fields.has(slot)) fields.set(slot, value);
  }
  return { fields, raw: () => rawFields(pairs) };
}

function rawFields(pairs: readonly Pair[]): Readonly<Record<string, string | readonly string[]>> {
  const raw: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const earlier = raw[name];
    raw[name] = earlier === undefined ? value : [earlier, value].flat();
  }
  return raw;
}

type Pair = readonly [name: string, value: string];

function pairsOf(given: unknown): Pair[] | undefined {
  try {
    const text = textOf(given);
    if (text === undefined || text.length > MAX_LENGTH) return undefined;
    const [query = ''] = text.replace(BEFORE_QUERY, '').split('#', 1);
    // Not replaceAll('+', ' '), which takes twice as long with many plus signs (threat A29).
    const spaced = query.split('+').join(' ');
    const parts = spaced.split('&', MAX_PAIRS + 1);
    if (parts.length > MAX_PAIRS) return undefined;
    return parts
      .filter((part) => part)
      .map((part) => {
        const end = part.indexOf('=');
        // Strict: it throws for invalid escapes and for every byte sequence that is not UTF-8.
        return end === -1
          ? [decodeURIComponent(part), '']
          : [decodeURIComponent(part.slice(0, end)), decodeURIComponent(part.slice(end + 1))];
      });
  } catch {
    return undefined; // An invalid escape, a proxy that throws, or an object that merely borrows the prototype.
  }
}

function textOf(query: unknown): string | undefined {
  if (typeof query === 'string') return query;
  if (query instanceof URL) return query.search;
  const text = query instanceof URLSearchParams ? String(query) : undefined;
  // Already decoded: an invalid escape is now U+FFFD and indistinguishable from a genuine one.
  return text?.includes('%EF%BF%BD') ? undefined : text;
}
