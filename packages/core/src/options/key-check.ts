import { ConfigurationError } from '../errors.ts';

// As text: to parse a class such as \p{Cf} takes 0.3 ms, which every program would pay that loads this file.
/** White space, quotation marks, control and format characters, those of decoded bytes, and others that a screen does not show. */
const STRAY = '[\\s"\'`\\u2018-\\u201f\\u00ab\\u00bb\\ufffd\\p{C}\\p{DI}]';
const PLACEHOLDER = /^<.*>$|<[\w .-]+>|\$\{|\{\{/s;

/**
 * Refuses, at construction, a value that cannot be a key (threat A19).
 *
 * @param option The name of the option, for the message.
 * @param where A sentence that says where to find the key.
 * @throws {ConfigurationError} Names the option, and never shows the value.
 *
 * @example
 * checkKey('signingKey', process.env.SIGNING_KEY, 'The merchant dashboard shows it under the account details.');
 */
export function checkKey(option: string, key: unknown, where = ''): asserts key is string {
  const problem = problemOf(key);
  if (problem !== undefined) throw new ConfigurationError(option, `${option} ${problem} ${where}`.trimEnd());
}

const IS_SET = 'Is the environment variable set?';

function problemOf(key: unknown): string | undefined {
  if (key === undefined || key === null || key === '') return `is missing. ${IS_SET}`;
  if (typeof key !== 'string') return 'must be a string.';
  if (key === 'undefined' || key === 'null') {
    return `is the string "${key}". ${IS_SET}`;
  }
  if (PLACEHOLDER.test(key)) return 'contains a placeholder.';
  if (new RegExp(STRAY, 'u').test(key)) {
    return 'contains white space, a quotation mark or an invisible character. Copy the key as shown.';
  }
  return undefined;
}
