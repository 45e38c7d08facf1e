/** Characters that move a terminal's cursor, reverse the text direction, or are invisible: controls, formats, line separators. */
const UNPRINTABLE = '[\\p{Cc}\\p{Cf}\u2028\u2029]'; // A string: parsed only where it is used (see options.ts).

/**
 * Makes text from a callback, an answer or an error safe for one line of a terminal or a log: a character that could rewrite or
 * hide output is written as its code point (threat A47).
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

/** The same for text of several lines, such as an error stack. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** JSON for programs that is also safe on a terminal: the same characters become escapes, which every parser decodes. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2) ?? 'null';
  // JSON.stringify has escaped all other controls; the remaining line breaks are its indentation.
  return text.replace(new RegExp(UNPRINTABLE, 'gu'), (one) =>
    one === '\n' ? one : one.split('').map(escaped).join(''),
  );
}

/** Escapes one UTF-16 unit: JSON has no escapes for longer code points. */
const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
