import { digit } from './unicode-automaton.ts';

/** The members of a callback that a verifier looks at. */
export interface Members {
  /** The last value of each name: a string, or something else. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Whether `event`, `payload` or a signed name of the payload appears twice. */
  readonly isTwice: boolean;
}

const [ROOT, PAYLOAD, OBJECT, ARRAY] = [0, 1, 2, 3];
type Expected = 'value' | 'name' | 'name or end' | 'value or end' | 'comma or end' | 'nothing';
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;
const SHORT: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Reads RFC 8259 in one pass and with a stack of its own, so that no depth ends it, and builds nothing but the members.
 *
 * @param names `event` first; the others are members of `payload`.
 * @returns undefined unless the string is the JSON of an object whose `payload` is an object.
 */
export function readMembers(text: string, names: readonly string[]): Members | undefined {
  const [top = '', ...inner] = names;
  const values = new Map<string, unknown>();
  const stack: number[] = [];
  let [at, isTwice, isObject, name] = [0, false, false, ''];
  // One bit for each name that counts: of the outer object, and of the payload that was opened last.
  let [inRoot, inPayload] = [0, 0];
  let expects: Expected = 'value';

  const found = (value: unknown): void => {
    const place = stack.at(-1);
    if (place === ROOT && name === 'payload') isObject = false;
    if ((place === ROOT && name === top) || (place === PAYLOAD && inner.includes(name)))
      values.set(name, value);
  };
  const named = (given: string): void => {
    name = given;
    const place = stack.at(-1);
    if (place === ROOT) {
      const bit = given === top ? 1 : given === 'payload' ? 2 : 0;
      isTwice ||= (inRoot & bit) > 0;
      inRoot |= bit;
    } else if (place === PAYLOAD) {
      const index = inner.indexOf(given);
      const bit = index < 0 ? 0 : 1 << index;
      isTwice ||= (inPayload & bit) > 0;
      inPayload |= bit;
    }
  };
  const open = (isArray: boolean): Expected | undefined => {
    if (stack.length === 0 && isArray) return undefined;
    const isPayload = !isArray && stack.length === 1 && name === 'payload';
    found(undefined);
    if (isPayload) {
      isObject = true;
      inPayload = 0;
      for (const one of inner) values.delete(one);
    }
    stack.push(stack.length === 0 ? ROOT : isPayload ? PAYLOAD : isArray ? ARRAY : OBJECT);
    return isArray ? 'value or end' : 'name or end';
  };
  const close = (isArray: boolean): Expected | undefined => {
    if ((stack.at(-1) === ARRAY) !== isArray) return undefined;
    stack.pop();
    return stack.length === 0 ? 'nothing' : 'comma or end';
  };

  for (;;) {
    while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
    if (at >= text.length) return expects === 'nothing' && isObject ? { values, isTwice } : undefined;
    const character = text[at] ?? '';
    const isValue: boolean = expects === 'value' || expects === 'value or end';
    if (character === '"') {
      if (!isValue && expects !== 'name' && expects !== 'name or end') return undefined;
      if (stack.length === 0) return undefined;
      const string = readString(text, at + 1);
      if (string === undefined) return undefined;
      at = string.end;
      if (isValue) {
        found(string.value);
        expects = 'comma or end';
        continue;
      }
      named(string.value);
      while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
      if (text[at++] !== ':') return undefined;
      expects = 'value';
    } else if (character === '{' || character === '[') {
      const next: Expected | undefined = isValue ? open(character === '[') : undefined;
      if (next === undefined) return undefined;
      expects = next;
      at++;
    } else if (character === '}' || character === ']') {
      const ends: readonly Expected[] = ['comma or end', character === ']' ? 'value or end' : 'name or end'];
      const next: Expected | undefined = ends.includes(expects) ? close(character === ']') : undefined;
      if (next === undefined) return undefined;
      expects = next;
      at++;
    } else if (character === ',') {
      if (expects !== 'comma or end') return undefined;
      expects = stack.at(-1) === ARRAY ? 'value' : 'name';
      at++;
    } else {
      NUMBER.lastIndex = at;
      const word =
        ['true', 'false', 'null'].find((one) => text.startsWith(one, at)) ?? NUMBER.exec(text)?.[0];
      if (!isValue || stack.length === 0 || word === undefined) return undefined;
      found(undefined);
      expects = 'comma or end';
      at += word.length;
    }
  }
}

/** @param start after the opening quote. */
function readString(
  text: string,
  start: number,
): { readonly value: string; readonly end: number } | undefined {
  let value = '';
  let from = start;
  for (let at = start; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return { value: value + text.slice(from, at), end: at + 1 };
    if (unit < 0x20) return undefined;
    if (unit !== 0x5c) continue;
    value += text.slice(from, at);
    const letter = text[++at] ?? '';
    const short = SHORT[letter];
    if (short !== undefined && letter !== '') value += short;
    else {
      if (letter !== 'u') return undefined;
      let code = 0;
      for (let place = 0; place < 4; place++) code = code * 16 + digit(text.charCodeAt(++at));
      if (Number.isNaN(code)) return undefined;
      value += String.fromCharCode(code);
    }
    from = at + 1;
  }
  return undefined;
}
