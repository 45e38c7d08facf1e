// Marked, here and elsewhere: what runs when a file is loaded stays in every bundle that uses something of that file.
export const encoder: InstanceType<typeof TextEncoder> = /* @__PURE__ */ new TextEncoder();

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** A bracket with this bit is a brace: '[' and '{' go one level deeper, ']' and '}' return. */
const BRACE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** An object that has members, which a list is not. */
export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Finds these names, of letters and '_', from the opening quote up to the value. Each letter is itself or its \u escape. */
export function membersNamed(names: readonly string[], flags: 'g' | 'y'): RegExp {
  const spelled = names.join('|').replace(/\w/g, (letter) => {
    const hex = letter.charCodeAt(0).toString(16);
    return `(?:${letter}|\\\\u00(?:${hex}|${hex.toUpperCase()}))`;
  });
  return new RegExp(`"(?:${spelled})"\\s*:\\s*`, flags);
}

/**
 * Visits members of the top-level object and of its `payload` object in JSON that JSON.parse has accepted, repeated names
 * included, which JSON.parse hides (the last one wins). One pass, which costs less than JSON.parse did (threat A18).
 *
 * @param inCallback The members to visit in the top-level object, `payload` among them.
 * @param inPayload The members to visit in `payload`.
 * @param visit Receives the name and where the value starts. The walk ends when it returns true.
 */
export function visitMembers(
  json: string,
  inCallback: RegExp,
  inPayload: RegExp,
  visit: (name: string, valueStart: number) => boolean,
): void {
  let depth = 0;
  let start = 0;
  let isPayload = false;
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (character === QUOTE) {
      start = at;
      at = stringEnd(json, at);
    } else if (character === COLON && (depth === 1 || (depth === 2 && isPayload))) {
      const watched = depth === 1 ? inCallback : inPayload;
      watched.lastIndex = start;
      const name: string | false = watched.test(json) && JSON.parse(json.slice(start, at));
      // What depth 2 holds is the value of the last name at depth 1; a list there has no names.
      if (depth === 1) isPayload = name === 'payload';
      if (name && visit(name, watched.lastIndex)) return;
    } else if ((character | BRACE_BIT) === OPEN) depth++;
    else if ((character | BRACE_BIT) === CLOSE) depth--;
  }
}

/**
 * The index where the value of a member of `payload` begins: the last one when its name is repeated, as in JSON.parse.
 *
 * @param member A member that `payload` has.
 */
export function payloadValueStart(json: string, member: string): number | undefined {
  // In nearly every body the name appears once: then that is the one, and no walk is needed.
  const found = membersNamed([member], 'g');
  let start: number | undefined = found.test(json) ? found.lastIndex : undefined;
  if (!found.test(json)) return start;
  start = undefined;
  visitMembers(json, membersNamed(['payload'], 'y'), membersNamed([member], 'y'), (name, valueStart) => {
    if (name === member) start = valueStart;
    return false;
  });
  return start;
}

/** The index of the closing quote, which JSON.parse has found as well. */
function stringEnd(json: string, start: number): number {
  let at = start + 1;
  for (; json.charCodeAt(at) !== QUOTE; at++) if (json.charCodeAt(at) === BACKSLASH) at++;
  return at;
}
