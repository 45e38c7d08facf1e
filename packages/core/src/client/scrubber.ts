/** Removes the client's keys from everything that an error shows. */
export interface Scrubber {
  /** The text with `[redacted]` in place of every key, including keys in another letter case or escaped. */
  text(text: string): string;
  /** The same on one line, cut to 512 characters. */
  snippet(text: string): string;
  /** A copy of a thrown value, for `cause`: name, message, code and stack, down the chain, and nothing else. */
  cause(thrown: unknown): unknown;
}

const MAX_SNIPPET = 512;
const MAX_CAUSE_DEPTH = 5;
/** JSON within JSON within JSON has seven before a quotation mark. */
const MAX_BACKSLASHES = 8;
const PARTS = /[a-z0-9]+|\\+|./gi;
const ENTITIES = new Map(Object.entries({ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }));

export function createScrubber(keys: readonly string[]): Scrubber {
  // Longest first: one key may be the beginning of another.
  const patterns = keys
    .toSorted((a, b) => b.length - a.length)
    .map((key) => (key.match(PARTS) ?? []).map(spellings).join(''));
  const anyKey = new RegExp(patterns.join('|'), 'gi');
  const scrub = (text: string): string => text.replace(anyKey, '[redacted]');
  return {
    text: scrub,
    // Scrubbed before it is cut: half a key at the end would not be recognised.
    snippet: (text) =>
      scrub(text)
        .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
        .slice(0, MAX_SNIPPET)
        .toWellFormed(),
    cause: (thrown) => copyCause(thrown, scrub, MAX_CAUSE_DEPTH),
  };
}

/**
 * A part of a key as HTML, a URL, JSON or JSON within JSON may spell it: letters and digits as they are, a run of
 * backslashes, or one other character. Every repetition is bounded, so that no text is slow to search.
 */
function spellings(part: string): string {
  if (/^[a-z0-9]/i.test(part)) return part;
  if (part.startsWith('\\'))
    return `(?:\\\\|%5c|\\\\u005c|&#92;|&#x5c;){${part.length},${part.length * MAX_BACKSLASHES}}`;
  const code = part.charCodeAt(0);
  const hex = code.toString(16);
  const backslashes = `\\\\{0,${MAX_BACKSLASHES}}`;
  // '%' itself stands last: it must not match the beginning of '%25'.
  const forms = [`%(?:25){0,2}${hex}`, `${backslashes}u00${hex}`, `&#0?${code};`, `&#x${hex};`];
  const entity = ENTITIES.get(part);
  if (entity !== undefined) forms.push(`&(?:amp;)?${entity};`);
  return `(?:${[...forms, `${backslashes}\\x${hex}`].join('|')})`;
}

function copyCause(thrown: unknown, scrub: (text: string) => string, depth: number): unknown {
  if (typeof thrown === 'string') return scrub(thrown);
  // Other values could hold a request with its headers.
  if (!(thrown instanceof Error) || depth === 0) return undefined;
  const inner = copyCause(thrown.cause, scrub, depth - 1);
  const options = inner === undefined ? undefined : { cause: inner };
  const message = scrub(thrown.message);
  const inners = thrown instanceof AggregateError ? thrown.errors : undefined;
  const errors = inners?.map((error) => copyCause(error, scrub, depth - 1));
  const copy = errors ? new AggregateError(errors, message, options) : new Error(message, options);
  copy.name = scrub(thrown.name);
  if (thrown.stack !== undefined) copy.stack = scrub(thrown.stack);
  const code: unknown = 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? Object.assign(copy, { code: scrub(code) }) : copy;
}
