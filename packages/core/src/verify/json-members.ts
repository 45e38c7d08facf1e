// Marked PURE, here and elsewhere: code that runs on load would otherwise stay in every bundle that uses anything from the file.
export const encoder: InstanceType<typeof TextEncoder> = /* @__PURE__ */ new TextEncoder();

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** A bracket with this bit is a brace: '[' and '{' go one level deeper, ']' and '}' return. */
const BRACE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Whether a value is an object with members, not a list. */
export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Finds these names of letters and '_', from the opening quote to the colon. Each letter is plain or a \u escape. */
export function membersNamed(names: readonly string[], flags: 'g' | 'y'): RegExp {
  const spelled = names.join('|').replace(/\w/g, (letter) => {
    const hex = letter.charCodeAt(0).toString(16);
    return `(?:${letter}|\\\\u00(?:${hex}|${hex.toUpperCase()}))`;
  });
  return new RegExp(`"(?:${spelled})"\\s*:`, flags);
}

/** The members to visit: those of the top-level object, including `payload`, and those of its `payload`. */
export interface MemberNames {
  readonly outer: readonly string[];
  readonly inner: readonly string[];
  /** A sticky expression that finds each of them, including escaped spellings. */
  readonly spelled: RegExp;
}

/**
 * Visits members of the top-level object and of its `payload` object in JSON that JSON.parse has accepted, including repeated
 * names, which JSON.parse hides (the last one wins). One pass that reads each character at most twice (threat A18).
 *
 * @param visit Receives the name and the index after its colon. The walk ends when it returns true.
 * @returns Whether it did.
 */
export function visitMembers(
  json: string,
  { outer, inner, spelled }: MemberNames,
  visit: (name: string, isInPayload: boolean, valueStart: number) => boolean,
): boolean {
  let depth = 0;
  let isPayload = false;
  let start = 0;
  let end = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json.charCodeAt(at);
    if (character === QUOTE) {
      start = at;
      at = end = stringEnd(json, at);
    } else if (character === COLON && (depth === 1 || (depth === 2 && isPayload))) {
      const name = nameIn(json, start, end, depth === 1 ? outer : inner, spelled);
      // Depth 2 is the value of the last name at depth 1; a list there has no names.
      if (depth === 1) isPayload = name === 'payload';
      if (name !== undefined && visit(name, depth === 2, at + 1)) return true;
    } else if ((character | BRACE_BIT) === OPEN) depth++;
    else if ((character | BRACE_BIT) === CLOSE) depth--;
  }
  return false;
}

/** The name between these quotes, if it is one of `names`. */
function nameIn(
  json: string,
  start: number,
  end: number,
  names: readonly string[],
  spelled: RegExp,
): string | undefined {
  const text = json.slice(start + 1, end);
  if (names.includes(text)) return text;
  if (!text.includes('\\')) return undefined;
  spelled.lastIndex = start;
  if (!spelled.test(json)) return undefined;
  const name: string = JSON.parse(`"${text}"`);
  return names.includes(name) ? name : undefined;
}

/**
 * The index where the value of a `payload` member begins, or the white space before it. If the name is repeated, the last one
 * counts, as in JSON.parse.
 *
 * @param member A member that exists in `payload`.
 */
export function payloadValueStart(json: string, member: string): number | undefined {
  // In nearly every body the name appears once, so no walk is needed.
  const found = membersNamed([member], 'g');
  let start: number | undefined = found.test(json) ? found.lastIndex : undefined;
  if (!found.test(json)) return start;
  start = undefined;
  const spelled = membersNamed(['payload', member], 'y');
  visitMembers(json, { outer: ['payload'], inner: [member], spelled }, (_, isInPayload, valueStart) => {
    if (isInPayload) start = valueStart;
    return false;
  });
  return start;
}

/** The index of the closing quote, which must exist, since JSON.parse accepted the text. */
function stringEnd(json: string, start: number): number {
  for (let at = start + 1; ; at++) {
    const character = json.charCodeAt(at);
    if (character === QUOTE) return at;
    if (character === BACKSLASH) at++;
  }
}
