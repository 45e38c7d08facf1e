import { ConfigurationError } from '../../errors.ts';
import { kindOf } from '../../options/options.ts';
import type { BaseUrl } from '../settings/base-url.ts';

const PLACEHOLDER = /\{([^{}/]+)\}/g;
/** The characters of a path (RFC 3986, 3.3) except `@` and `%`, with no empty segment but the last. */
const PATH = /^(\/[\w.~!$&'()*+,;=:-]+)*\/?$/;

/**
 * The address of a `request()`. Keys are sent to it, so it cannot leave `baseUrl`: the URL parser, which resolves `..` and
 * drops line breaks, must find nothing to change.
 *
 * @throws {ConfigurationError} naming the option, never a value.
 */
export function addressOf(base: BaseUrl, path: unknown, params: object = {}, query: object = {}): string {
  if (typeof path !== 'string') throw wrong('path', 'must be a string, such as /transfers/{id}.');
  const unused = new Set(Object.keys(params));
  const filled = path.replace(PLACEHOLDER, (_, name: string) => {
    unused.delete(name);
    return segmentOf(name, Object.hasOwn(params, name) ? Reflect.get(params, name) : undefined);
  });
  const [extra] = unused;
  if (extra !== undefined) throw wrong('params', `has "${extra}", but path has no {${extra}}.`);
  const url = `${base.text}${filled}`;
  const template = path.replace(PLACEHOLDER, 'x');
  if (!template.startsWith('/') || !PATH.test(template) || !URL.canParse(url) || new URL(url).href !== url) {
    throw wrong(
      'path',
      'must be a path below baseUrl, such as /transfers/{id}: a leading slash, no query, no "//", "..", "@" or "%". ' +
        'Values belong in params and query.',
    );
  }
  return url + queryText(query);
}

/** A value is one segment: on some servers behind the service, a slash or dots in it would lead to another path. */
function segmentOf(name: string, value: unknown): string {
  const text = textOf(value);
  if (text === undefined || text === '' || /^\.{1,2}$|[/\\]/.test(text)) {
    throw wrong(
      'params',
      `needs a value for {${name}}: a string or number, without "/" or "\\", and not "." or "..".`,
    );
  }
  return encodeURIComponent(text);
}

/** With a leading question mark if any value is left. Undefined values are left out. Sorted: equal queries are equal strings. */
export function queryText(query: object): string {
  const pairs = entriesOf('query', query, 'URLSearchParams')
    .flatMap(([name, value]: [string, unknown]) =>
      (Array.isArray(value) ? value : [value]).map((one) => [name, one]),
    )
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = textOf(value);
      if (text === undefined)
        throw wrong('query', `has a value that is not a string, number or boolean: "${name}".`);
      if (!String(name).isWellFormed()) throw wrong('query', 'has a name that is not well-formed Unicode.');
      return `${encodeURIComponent(String(name))}=${encodeURIComponent(text)}`;
    })
    .sort();
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/**
 * The pairs of a plain object, or of `Headers` or `URLSearchParams`, which are iterable. Any other object would seem to be empty.
 *
 * @throws {ConfigurationError}
 */
export function entriesOf(
  option: string,
  given: object,
  className: 'Headers' | 'URLSearchParams',
): [string, unknown][] {
  if (isPlain(given)) return Object.entries(given);
  const isIterable =
    Object.prototype.toString.call(given) === `[object ${className}]` && Symbol.iterator in given;
  if (isIterable) return [...(given as Iterable<[string, string]>)];
  throw wrong(option, `must be a plain object or ${className}. It is ${kindOf(given)}.`);
}

/** @returns Undefined for anything but one plain value. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? value : undefined;
  return typeof value === 'boolean' || Number.isFinite(value) ? String(value) : undefined;
}

/** @param path The option and the place in it, such as `body.items[2].amount`. */
export function wrong(path: string, why: string, details?: { cause: unknown }): ConfigurationError {
  const option = path.replace(/[.[].*/s, '');
  return new ConfigurationError(option, `${path} of request() ${why}`, details);
}

/** The prototype of plain objects has no prototype, even in another realm. */
export function isPlain(value: object): boolean {
  const parent: unknown = Object.getPrototypeOf(value);
  return parent === null || Object.getPrototypeOf(parent) === null;
}
