import { ConfigurationError } from '../errors.ts';
import { SIGNED_NAMES, type SignedName } from './signed-fields.ts';
import { UNSIGNED_TYPES } from './unsigned-fields.ts';

/** What can be renamed in a redirect's query, since its wire form is not shown. */
export type RedirectField = SignedName | 'hmac_signature';
/** Our name → the parameter's name in the query. */
export type RedirectFields = { readonly [Name in RedirectField]?: string };

/** The slot that every accepted spelling of a parameter belongs to. */
export type RedirectNames = ReadonlyMap<string, string>;

export interface ReadQuery {
  readonly fields: ReadonlyMap<string, string>;
  readonly raw: Readonly<Record<string, string | readonly string[]>>;
}

const LONGEST = 8192;
const RENAMEABLE: readonly string[] = [...SIGNED_NAMES, 'hmac_signature'];

/**
 * Which parameter names are known. Flat names by default, and `payload[…]` for what a callback holds in its payload;
 * a name given in `redirectFields` takes the place of both.
 */
export function redirectNames(renamed: RedirectFields | undefined): RedirectNames {
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
  for (const [slot, wireName] of Object.entries(renamed ?? {})) {
    if (wireName === undefined) continue;
    if (!RENAMEABLE.includes(slot)) {
      throw new ConfigurationError(
        'redirectFields',
        `redirectFields knows no "${slot}": use ${RENAMEABLE.join(', ')}.`,
      );
    }
    if (typeof wireName !== 'string' || wireName === '') {
      throw new ConfigurationError(
        `redirectFields.${slot}`,
        `redirectFields.${slot} must be a parameter's name.`,
      );
    }
    add(wireName, slot);
  }
  const given = new Set(names.values());
  for (const slot of [...RENAMEABLE, ...Object.keys(UNSIGNED_TYPES)]) {
    if (given.has(slot)) continue;
    add(slot, slot);
    if (slot !== 'event' && slot !== 'hmac_signature') add(`payload[${slot}]`, slot);
  }
  return names;
}

/**
 * Reads a redirect's query, or answers undefined where it is malformed. The same bytes are read in the same way under
 * every framework, whose own parsers differ in repeated names (threat A14) and bad escapes (threat A15).
 *
 * @param query the raw query, a path or URL that holds it, or what the runtime parsed.
 */
export function readRedirectQuery(query: unknown, names: RedirectNames): ReadQuery | undefined {
  const pairs = pairsOf(query);
  if (pairs === undefined) return undefined;
  const fields = new Map<string, string>();
  const raw: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const slot = names.get(name);
    if (slot !== undefined) {
      if (fields.has(slot)) return undefined;
      fields.set(slot, value);
    } else if (isBracketed(name, names)) return undefined;
    const earlier = raw[name];
    raw[name] = earlier === undefined ? value : [earlier, value].flat();
  }
  return { fields, raw: Object.freeze(raw) };
}

/** `event[]`, `event[x]`, `payload[merchant_reference][0]`: some parser would read the known name out of it. */
function isBracketed(name: string, names: RedirectNames): boolean {
  for (let at = name.indexOf('['); at > 0; at = name.indexOf('[', at + 1)) {
    if (names.has(name.slice(0, at))) return true;
  }
  return false;
}

function pairsOf(query: unknown): Iterable<readonly [string, string]> | undefined {
  const text = typeof query === 'string' ? query : parsedByRuntime(query);
  if (typeof text === 'object') {
    // Already decoded: a bad escape has become U+FFFD here, and can no longer be told from a genuine one.
    return text.some((pair) => pair.some((part) => part.includes('\ufffd'))) ? undefined : text;
  }
  if (text === undefined || text.length > LONGEST) return undefined;
  const pairs: [string, string][] = [];
  for (const pair of rawQuery(text).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    pairs.push([name, value]);
  }
  return pairs;
}

function parsedByRuntime(query: unknown): string | [string, string][] | undefined {
  try {
    if (query instanceof URLSearchParams) return [...query];
    return query instanceof URL ? query.search : undefined;
  } catch {
    return undefined; // A proxy whose traps throw, or an object that only borrows the prototype.
  }
}

/** Behind the first '?' of a path or URL; a raw query may begin with '?'. */
function rawQuery(text: string): string {
  if (/^(\/|https?:\/\/)/i.test(text)) {
    const mark = text.indexOf('?');
    return mark === -1 ? '' : withoutFragment(text.slice(mark + 1));
  }
  return withoutFragment(text.startsWith('?') ? text.slice(1) : text);
}

function withoutFragment(text: string): string {
  const hash = text.indexOf('#');
  return hash === -1 ? text : text.slice(0, hash);
}

/** Strict: decodeURIComponent refuses bad escapes and every byte sequence that is not UTF-8. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
