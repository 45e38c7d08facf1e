/** What moves a terminal's cursor, reverses the direction of text, or is invisible: controls, formats, line separators. */
const UNPRINTABLE = '[\\p{Cc}\\p{Cf}\u2028\u2029]'; // As text: parsed where it is used (see options.ts).

/**
 * Text of a callback, an answer or an error on one line of a terminal or a log: a character that could rewrite or hide output
 * is written as its code point (threat A47).
 *
 * @example
 * printable('ORD-\u202E1001'); // 'ORD-\\u{202e}1001'
 */
export function printable(text: string): string {
  return text.replace(
    new RegExp(UNPRINTABLE, 'gu'),
    (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** The same for text of several lines, such as the stack of an error. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** JSON for programs that is also safe on a terminal: the same characters become escapes, which every parser reads back. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2) ?? 'null';
  // JSON has escaped the other controls; the remaining line breaks are its own.
  return text.replace(new RegExp(UNPRINTABLE, 'gu'), (one) =>
    one === '\n' ? one : one.split('').map(escaped).join(''),
  );
}

/** One UTF-16 unit: JSON has no longer escapes. */
const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
