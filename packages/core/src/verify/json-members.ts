const encoder = new TextEncoder();
// A byte order mark is one character of the text as well.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const PAYLOAD = encoder.encode('payload');

const QUOTE = 0x22;
const LETTER_U = 0x75;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

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
  let isInPayload = false;
  let isPayloadNext = false;
  let nameComesNext = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === QUOTE) {
      const end = stringEnd(json, at);
      if (nameComesNext) {
        if (depth === 1) isPayloadNext = spells(json, at, end, PAYLOAD);
        if (visit(depth === 1 ? 'callback' : 'payload', at, end)) return;
        nameComesNext = false;
      }
      at = end - 1;
    } else if (character === COMMA) {
      nameComesNext = depth === 1 || (depth === 2 && isInPayload);
    } else if (character === OPEN_OBJECT || character === OPEN_LIST) {
      depth++;
      if (depth === 2) isInPayload = isPayloadNext && character === OPEN_OBJECT;
      nameComesNext = depth === 1 || (depth === 2 && isInPayload);
    } else if (character === CLOSE_OBJECT || character === CLOSE_LIST) {
      depth--;
    }
  }
}

/**
 * The index where the value of a member of `payload` begins: the last one when its name is repeated, as in JSON.parse.
 */
export function payloadValueStart(text: string, member: string): number | undefined {
  // In nearly every body the name appears once, and no name can hide in an escape (only a \u escape can spell a letter):
  // then that is the one, and no walk is needed.
  const quoted = `"${member}"`;
  const first = text.indexOf(quoted);
  if (first !== -1 && first === text.lastIndexOf(quoted) && !text.includes('\\u')) {
    return valueStart(text, first + quoted.length);
  }
  const json = encoder.encode(text);
  const name = encoder.encode(member);
  let nameEnd: number | undefined;
  visitMembers(json, (parent, start, end) => {
    if (parent === 'payload' && spells(json, start, end, name)) nameEnd = end;
    return false;
  });
  return nameEnd === undefined
    ? undefined
    : valueStart(text, decoder.decode(json.subarray(0, nameEnd)).length);
}

/** Whether a quoted name is this one, of letters and '_', which only a \u escape can spell in another way. */
export function spells(json: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  let at = start + 1;
  // An escape is five characters longer than its letter.
  const surplus = end - start - 2 - name.length;
  if (surplus < 0 || surplus % 5 !== 0) return false;
  for (let index = 0; index < name.length; index++) {
    let character = json[at++] ?? 0;
    if (character === BACKSLASH) {
      if (json[at] !== LETTER_U) return false;
      character = 0;
      for (const last = at + 4; at++ < last; ) character = character * 16 + hexDigit(json[at] ?? 0);
    }
    if (character !== name[index]) return false;
  }
  return at === end - 1;
}

/** 0-9, A-F and a-f, which JSON.parse has checked. */
function hexDigit(character: number): number {
  return (character & 15) + (character > 0x40 ? 9 : 0);
}

const NEAR = 128;

/** The index after the closing quote. */
function stringEnd(json: Uint8Array, start: number): number {
  for (let at = start + 1; ; ) {
    for (const far = at + NEAR; at < far; at++) {
      const character = json[at];
      if (character === QUOTE) return at + 1;
      if (character === BACKSLASH) at++;
    }
    // In a long string, the native search is faster. An odd number of backslashes before a quote escapes it.
    const quote = json.indexOf(QUOTE, at);
    let run = quote;
    while (run > at && json[run - 1] === BACKSLASH) run--;
    at = quote + ((quote - run) % 2);
  }
}

function valueStart(text: string, nameEnd: number): number {
  let at = text.indexOf(':', nameEnd) + 1;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\n' || text[at] === '\r') at++;
  return at;
}
