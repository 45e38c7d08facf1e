// Marked, here and elsewhere: what runs when a file is loaded stays in every bundle that uses something of that file.
export const encoder: InstanceType<typeof TextEncoder> = /* @__PURE__ */ new TextEncoder();

const PAYLOAD = /* @__PURE__ */ encoder.encode('payload');

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** A bracket with this bit is a brace: '[' and '{' go one level deeper, ']' and '}' return. */
const BRACE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** An object that has members, which a list is not. */
export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Finds quoted names with their ':', as they are nearly always spelled: only a \u escape can spell a letter in another way. */
export function plainNames(names: readonly string[]): RegExp {
  return new RegExp(`"(?:${names.join('|')})"[ \\t\\n\\r]*:`, 'g');
}

/**
 * Visits the members of the top-level object and of its `payload` object in JSON that JSON.parse has accepted,
 * repeated names included, which JSON.parse hides (the last one wins). One pass, which costs less than JSON.parse did: it
 * compares bytes, which is faster than characters, and decodes no name (threat A18).
 *
 * @param json As UTF-8.
 * @param visit Receives the parent object and where the quoted name starts and ends. The walk ends when it returns true.
 */
export function visitMembers(
  json: Uint8Array,
  visit: (parent: 'callback' | 'payload', start: number, end: number) => boolean,
): void {
  let depth = 0;
  let start = 0;
  let end = 0;
  let isInPayload = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at] ?? 0;
    if (character === QUOTE) {
      start = at;
      end = stringEnd(json, at);
      at = end - 1;
    } else if (character === COLON) {
      // What depth 2 holds is the value of the last name at depth 1; a list there has no names.
      if (depth === 1) isInPayload = spells(json, start, end, PAYLOAD);
      const parent = depth === 1 ? 'callback' : depth === 2 && isInPayload ? 'payload' : undefined;
      if (parent !== undefined && visit(parent, start, end)) return;
    } else if ((character | BRACE_BIT) === OPEN) depth++;
    else if ((character | BRACE_BIT) === CLOSE) depth--;
  }
}

/**
 * The index where the value of a member of `payload` begins: the last one when its name is repeated, as in JSON.parse.
 */
export function payloadValueStart(text: string, member: string): number | undefined {
  // In nearly every body the name appears once: then that is the one, and no walk is needed.
  const found = plainNames([member]);
  if (!text.includes('\\u') && found.test(text)) {
    const { lastIndex } = found;
    if (!found.test(text)) return afterSpace(text, lastIndex);
  }
  const json = encoder.encode(text);
  const name = encoder.encode(member);
  let nameEnd: number | undefined;
  visitMembers(json, (parent, start, end) => {
    if (parent === 'payload' && spells(json, start, end, name)) nameEnd = end;
    return false;
  });
  if (nameEnd === undefined) return undefined;
  // A byte order mark is one character of the text as well.
  const before = new TextDecoder('utf-8', { ignoreBOM: true }).decode(json.subarray(0, nameEnd));
  return afterSpace(text, text.indexOf(':', before.length) + 1);
}

/** Whether a quoted name is this one, of letters and '_', which only a \u escape can spell in another way. */
export function spells(json: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  let at = start;
  for (const letter of name) {
    let character = json[++at];
    if (character === BACKSLASH) {
      if (json[++at] !== LETTER_U) return false;
      character = 0;
      for (let digits = 0; digits < 4; digits++) character = character * 16 + hexDigit(json[++at] ?? 0);
    }
    if (character !== letter) return false;
  }
  return at + 2 === end;
}

/** 0-9, A-F and a-f, which JSON.parse has checked. */
function hexDigit(character: number): number {
  return (character & 15) + (character > 0x40 ? 9 : 0);
}

/** The index after the closing quote, which JSON.parse has found as well. */
function stringEnd(json: Uint8Array, start: number): number {
  let at = start + 1;
  for (; json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
  return at + 1;
}

function afterSpace(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return at;
}
