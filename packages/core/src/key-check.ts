import { ConfigurationError } from './errors.ts';

/** White space, control characters, and characters that nobody sees: zero-width, soft hyphen, byte order mark. */
const INVISIBLE = /[\s\p{Cc}\p{Cf}]/u;
const PLACEHOLDER = /^<.*>$|^\$\{.*\}$|^\{\{.*\}\}$|^%.*%$/;
const QUOTES = /["'`]/;

/**
 * Refuses what no key of an account can be, at construction, where the mistake is cheap (threat A19).
 *
 * @param where Where to find the right value; the end of the message.
 * @throws {ConfigurationError} Names the option, never its value.
 */
export function checkKey(option: string, key: unknown, where = ''): asserts key is string {
  const refuse = (what: string): never => {
    throw new ConfigurationError(option, `${option} ${what} ${where}`.trimEnd());
  };
  if (typeof key !== 'string') refuse('is missing. Is the environment variable set?');
  else if (key === '') refuse('is empty. Is the environment variable set?');
  else if (key === 'undefined' || key === 'null') {
    refuse(`is the string "${key}", which an unset variable turns into.`);
  } else if (!key.isWellFormed()) refuse('is not well-formed Unicode.');
  else if (PLACEHOLDER.test(key)) refuse('is a placeholder. Replace it with the key.');
  else if (QUOTES.test(key)) refuse('contains a quotation mark. Remove the quotes around the key.');
  else if (INVISIBLE.test(key)) {
    refuse(
      'contains white space or an invisible character, often a line break at the end of a file. Remove it.',
    );
  }
}
