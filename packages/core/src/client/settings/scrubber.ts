import { encoder } from '../../verify/json-members.ts';

/**
 * Removes the client's keys from everything that an error shows. An attacker needs only a log that outsiders can read and a
 * service or proxy that echoes a request: as a page, in JSON, in a URL, or encoded like a dump.
 */
export interface Scrubber {
  /**
   * The text with `[redacted]` in place of every key, in any letter case. If the text contains a key of 8 characters or more in
   * HTML, URL or JSON escapes, in hexadecimal, in Base64 or as a JSON list of bytes, the whole text is replaced. A key that itself
   * contains such an escape is found only in its URL or JSON spelling.
   */
  text(text: string): string;
  /** The same, on one line: the first 16,384 characters, cut to 512. */
  snippet(text: string | undefined): string | undefined;
  /** A copy of a thrown value, for `cause`: name, message, code and stack, down the chain, and nothing else. */
  cause(thrown: unknown): unknown;
}

const HIDDEN = '[redacted: this text holds a key]';
const MAX_SNIPPET = 512;
/** Characters read per character of the longest key: a key that begins in the excerpt is read to its end, escaped or not. */
const READ_PER_CHARACTER = 160;
const MIN_READ = 16_384;
const MAX_CAUSE_DEPTH = 5;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

export function createScrubber(keys: readonly string[]): Scrubber {
  const hidden = keys.flatMap(needles);
  const lists = keys.filter(({ length }) => length >= MIN_NEEDLE).map((key) => bytesOf(key).join(','));
  const maxRead = Math.max(MIN_READ, READ_PER_CHARACTER * Math.max(...keys.map(({ length }) => length)));
  // Longest first: one spelling may be the beginning of another.
  const literals = keys
    .flatMap(spellings)
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const anyKey = new RegExp(literals.join('|'), 'gi');
  const scrub = (text: string): string => {
    const shown = text.replace(anyKey, '[redacted]');
    const decoded = plain(shown);
    if (hidden.some((needle) => decoded.includes(needle))) return HIDDEN;
    // A typed array in JSON has an index in front of each byte.
    const bytes = decoded.replace(INDEX, '');
    return lists.some((list) => bytes.includes(list)) ? HIDDEN : shown;
  };
  return {
    text: scrub,
    // Scrubbed before it is cut: half a key at the end would not be recognised.
    snippet: (text) =>
      text && scrub(text.slice(0, maxRead)).replace(CONTROL, ' ').slice(0, MAX_SNIPPET).toWellFormed(),
    cause: (thrown) => copyCause(thrown, scrub, MAX_CAUSE_DEPTH),
  };
}

/** The spellings that are removed in place: plain, in a URL, and in JSON. */
function spellings(key: string): string[] {
  return [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)];
}

/** A shorter needle would match by chance. Keys of real accounts are longer. */
const MIN_NEEDLE = 8;

const bytesOf = (key: string): Uint8Array => encoder.encode(key);

/** A key after `plain()`: as characters, in hexadecimal and in Base64. */
function needles(key: string): string[] {
  const bytes = bytesOf(key);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const binary = String.fromCharCode(...bytes);
  // Three bytes are four characters, so a key inside a longer text has three Base64 spellings. The characters at both ends that
  // also encode bits of the surrounding text are left out.
  const base64 = [0, 1, 2].map((before) =>
    btoa('-'.repeat(before) + binary).slice(
      Math.ceil((before * 4) / 3),
      Math.floor(((before + binary.length) * 4) / 3),
    ),
  );
  const base64url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [key, hex, ...base64, ...base64url].map(plain).filter(({ length }) => length >= MIN_NEEDLE);
}

const ESCAPE =
  /&#(?:x([\da-f]{1,7})|(\d{1,7}));?|%([\da-f]{2})|\\(?:u00|x)([\da-f]{2})|&(amp|lt|gt|quot|apos);/gi;
/** A nested escape has several. */
const BACKSLASHES = /\\{2,}/g;
/** White space, as in wrapped Base64, and JSON backslashes, except those of a nested escape. */
const NOISE = /(?:\s|\\[rnt]|\\(?!u00|x))+/gi;
const INDEX = /"\d+":/g;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
/** A page in JSON in a URL has three. */
const MAX_LAYERS = 5;

/**
 * The text in lower case, without HTML, URL and JSON escapes, white space and backslashes. Every spelling of a key that uses
 * such escapes for some or all of its characters becomes the same string.
 */
function plain(text: string): string {
  let decoded = text;
  for (let layer = 0, last = ''; layer < MAX_LAYERS && decoded !== last; layer++) {
    last = decoded;
    decoded = last
      .replace(BACKSLASHES, '\\')
      .replace(ESCAPE, (_, hex, decimal, percent, json, name: string | undefined) => {
        if (name !== undefined) return NAMED[name.toLowerCase()] ?? '';
        const code = decimal === undefined ? Number.parseInt(hex ?? percent ?? json, 16) : Number(decimal);
        return String.fromCharCode(code);
      })
      .replace(NOISE, '');
  }
  return decoded.toLowerCase();
}

function copyCause(thrown: unknown, scrub: (text: string) => string, depth: number): unknown {
  if (typeof thrown === 'string') return scrub(thrown);
  // Other values could contain a request with its headers.
  if (!(thrown instanceof Error) || depth === 0) return undefined;
  const inner = copyCause(thrown.cause, scrub, depth - 1);
  const options = inner === undefined ? undefined : { cause: inner };
  const copy = new Error(scrub(thrown.message), options);
  copy.name = scrub(thrown.name);
  if (thrown.stack !== undefined) copy.stack = scrub(thrown.stack);
  const code: unknown = 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? Object.assign(copy, { code: scrub(code) }) : copy;
}
