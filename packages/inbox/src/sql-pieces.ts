/** The languages that differ in their comments and their white space. */
export type Dialect = 'postgres' | 'sqlite';

interface Rules {
  readonly blank: RegExp;
  readonly lineComment: RegExp;
  /** Where the block comment that begins at an index ends. */
  readonly blockEnd: (text: string, start: number) => number;
}

// Each expression is tried at one place and never gives a character back, so a text is read in linear time.
const RULES: Readonly<Record<Dialect, Rules>> = {
  // PostgreSQL before 16 refuses a vertical tab.
  postgres: { blank: /[ \t\n\r\v\f]+/y, lineComment: /--[^\n\r]*/y, blockEnd: nestedEnd },
  // SQLite passes over a byte order mark wherever a word could begin, and over a vertical tab after another blank.
  sqlite: { blank: /[ \t\n\r\v\f\uFEFF]+/y, lineComment: /--[^\n]*/y, blockEnd: firstEnd },
};

const WORD = /[a-z_\u0080-\uFFFF][\w$\u0080-\uFFFF]*/iy;

/**
 * The words of a statement in lower case, and every other character by itself, one after the other as they are asked
 * for: without what the engine passes over, which is white space and comments. For the beginning of a statement: texts
 * in quotes are taken to pieces as well.
 */
export function* sqlPieces(text: string, dialect: Dialect): Generator<string, void> {
  let index = 0;
  for (;;) {
    index = skip(text, index, RULES[dialect]);
    if (index >= text.length) return;
    const end = Math.max(endOf(WORD, text, index), index + 1);
    yield text.slice(index, end).toLowerCase();
    index = end;
  }
}

/** The index of the next piece. */
function skip(text: string, from: number, { blank, lineComment, blockEnd }: Rules): number {
  let index = from;
  for (;;) {
    let next = endOf(lineComment, text, endOf(blank, text, index));
    if (text.startsWith('/*', next)) next = blockEnd(text, next);
    if (next === index) return index;
    index = next;
  }
}

/** Where the expression ends that stands at the index; the index itself when it does not. */
function endOf(expression: RegExp, text: string, index: number): number {
  expression.lastIndex = index;
  return expression.test(text) ? expression.lastIndex : index;
}

/** PostgreSQL counts the beginnings and the ends of block comments; one that does not end is an error there. */
function nestedEnd(text: string, start: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = start;
  let depth = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
  return text.length;
}

/** In SQLite the first end counts, and a comment without one runs to the end of the text. */
function firstEnd(text: string, start: number): number {
  const end = text.indexOf('*/', start + 2);
  return end === -1 ? text.length : end + 2;
}
