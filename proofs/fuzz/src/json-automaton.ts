/** The members of a callback that a verifier reads. */
export interface Members {
  /** The last value of each name: a string, or something else. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Whether `event`, `payload` or a signed name of the payload appears twice. */
  readonly isTwice: boolean;
}

/** An object or an array, and the last values of its relevant names. */
interface Level {
  readonly isArray: boolean;
  readonly names: readonly string[];
  readonly values: Map<string, string | Level | undefined>;
}

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

const STRING = String.raw`"((?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"`;
const NUMBER = String.raw`-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`;
/** A token of RFC 8259 after white space. Returns a punctuation mark, or the text between the quotes of a string. */
const TOKEN = new RegExp(String.raw`[ \n\r\t]*(?:([{}[\]:,])|${STRING}|true|false|null|${NUMBER})`, 'y');
const START = /^[ \n\r\t]*\{/;
const END = /^[ \n\r\t]*$/;
const ESCAPE = /\\(?:u(....)|(.))/g;
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Reads RFC 8259 in one pass with its own stack, so that no depth stops it, and builds nothing but the members.
 *
 * @param names `event` first; the others are members of `payload`.
 * @returns undefined unless the string is the JSON of an object whose `payload` is an object.
 */
export function readMembers(text: string, names: readonly string[]): Members | undefined {
  const [event = '', ...inner] = names;
  const root: Level = { isArray: false, names: [event, 'payload'], values: new Map() };
  const stack = [root];
  const [start] = START.exec(text) ?? [];
  if (start === undefined) return undefined;
  let [at, isTwice, name] = [start.length, false, ''];
  let expects: Expected = 'name or end';

  const opened = (mark: string): Level => {
    const isPayload = mark === '{' && stack.at(-1) === root && name === 'payload';
    return { isArray: mark === '[', names: isPayload ? inner : [], values: new Map() };
  };

  for (;;) {
    TOKEN.lastIndex = at;
    const [token, mark, string] = TOKEN.exec(text) ?? [];
    if (token === undefined) break;
    at += token.length;
    const level = stack.at(-1);
    if (mark === ',') {
      if (expects !== 'comma or end') return undefined;
      expects = level?.isArray ? 'value' : 'name';
    } else if (mark === ':') {
      if (expects !== 'colon') return undefined;
      expects = 'value';
    } else if (mark === '}' || mark === ']') {
      const ends: readonly Expected[] = ['comma or end', mark === ']' ? 'value or end' : 'name or end'];
      if (!ends.includes(expects) || level?.isArray !== (mark === ']')) return undefined;
      stack.pop();
      expects = stack.length === 0 ? 'nothing' : 'comma or end';
    } else if (expects === 'name' || expects === 'name or end') {
      if (string === undefined) return undefined;
      name = unescaped(string);
      isTwice ||= level?.values.has(name) === true;
      expects = 'colon';
    } else if (expects === 'value' || expects === 'value or end') {
      const next = mark === undefined ? undefined : opened(mark);
      if (level?.names.includes(name))
        level.values.set(name, string === undefined ? next : unescaped(string));
      if (next !== undefined) stack.push(next);
      expects = mark === undefined ? 'comma or end' : mark === '[' ? 'value or end' : 'name or end';
    } else return undefined;
  }
  const payload = root.values.get('payload');
  const isCallback = expects === 'nothing' && typeof payload === 'object' && !payload.isArray;
  if (!isCallback || !END.test(text.slice(at))) return undefined;
  return { values: new Map([...payload.values, [event, root.values.get(event)]]), isTwice };
}

function unescaped(string: string): string {
  return string.replace(ESCAPE, (_, code: string | undefined, letter: string) =>
    code === undefined ? (CONTROLS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
