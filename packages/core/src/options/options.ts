import { ConfigurationError } from '../errors.ts';

/** The check of an option, and its description in messages. */
export type OptionRule = readonly [isValid: (value: unknown) => boolean, shape: string, isRequired?: true];
/** The rule for every option of a function; undefined for an option that is checked separately. */
export type OptionRules<T> = { readonly [Name in keyof Required<T>]: OptionRule | undefined };

/** Timers have 31 bits; a longer one would fire immediately. */
const MAX_TIMER_MS = 2_147_483_647;

export const REQUIRED = true;

export const FUNCTION: OptionRule = [(value) => typeof value === 'function', 'a function'];
export const BOOLEAN: OptionRule = [(value) => typeof value === 'boolean', 'true or false'];
/** An object of any class. */
const isRecord = (value: unknown): boolean =>
  typeof value === 'object' && !/null|Array$|promise|unread/.test(kindOf(value));
export const RECORD: OptionRule = [isRecord, 'an object'];
export const LIST: OptionRule = [Array.isArray, 'a list'];
export const STRING: OptionRule = [(value) => typeof value === 'string', 'a string'];
export const DURATION: OptionRule = [
  (value) => typeof value === 'number' && value > 0 && value <= MAX_TIMER_MS,
  'a number of milliseconds above 0',
];

/**
 * Checks the options of a function at construction. An unknown option is refused: a misspelled `onCallback` would otherwise
 * silently turn a handler off.
 *
 * @param call The function, as the message names it.
 * @throws {ConfigurationError} Names the option, and says what was passed if the type is wrong. For an unknown option, it also
 * names the most similar known one.
 *
 * @example
 * checkOptions('createClient()', { timeoutMS: 5000 }, { timeoutMs: DURATION }); // … Did you mean "timeoutMs"?
 */
export function checkOptions<T extends object>(
  call: string,
  options: T,
  rules: OptionRules<T>,
  prefix = '',
): void {
  if (!isRecord(options)) {
    const argument = prefix.slice(0, -1) || 'options';
    throw new ConfigurationError(
      argument,
      `${call}: ${argument} must be an object. It is ${kindOf(options)}.`,
    );
  }
  refuseUnknownOptions(call, options, Object.keys(rules));
  for (const [name, rule] of Object.entries<OptionRule | undefined>(rules)) {
    const value: unknown = Reflect.get(options, name);
    if (rule === undefined) continue;
    const [isValid, shape, isRequired] = rule;
    if (value === undefined ? !isRequired : isValid(value)) continue;
    const advice = isRequired ? '' : ', or be left out';
    const message = `${prefix}${name} must be ${shape}${advice}.${wrongType(value, shape)}`;
    throw new ConfigurationError(prefix + name, message);
  }
}

/**
 * Checks an argument of an exported function that is not an options object.
 *
 * @throws {ConfigurationError} Names the function, the argument and what was passed.
 *
 * @example
 * checkArgument('sumOfProducts()', 'products', products, LIST); // … products must be a list. It is a promise: await it.
 */
export function checkArgument(
  call: string,
  argument: string,
  value: unknown,
  [isValid, shape]: OptionRule,
): void {
  try {
    if (isValid(value)) return;
  } catch {
    // Unreadable, such as a proxy that throws.
  }
  refuseArgument(call, argument, shape, value);
}

/** @throws {ConfigurationError} Always. */
export function refuseArgument(call: string, argument: string, shape: string, value: unknown): never {
  throw new ConfigurationError(argument, `${call}: ${argument} must be ${shape}. It is ${kindOf(value)}.`);
}

/** Shapes that no string has. Other shapes, such as a list of choices, can describe a string. */
const NOT_A_STRING =
  /^(?:\{|an? (?:function|object|list|map|store|schema|(?:whole )?number|HTTP status|valid Date|AbortSignal)\b|true,? or\b)/;
/** The words in shapes that a value of each kind can have. */
const WORDS_OF_KIND: Readonly<Record<string, RegExp>> = {
  'a number': /number|HTTP status/,
  'a Date': /Date/,
  'a boolean': /^true/,
  'a function': /function/,
  'an Array': /list/,
  'an Object': /object|map|store|schema|provider|inbox|\{/,
};

/** Says what a value is, unless a valid value can be the same: "It is a number." would not explain one out of range. */
function wrongType(value: unknown, shape: string): string {
  const kind = kindOf(value);
  const isPossible = kind === 'a string' ? !NOT_A_STRING.test(shape) : WORDS_OF_KIND[kind]?.test(shape);
  return isPossible ? '' : ` It is ${kind}.`;
}

function refuseUnknownOptions(call: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const lower = name.toLowerCase();
    const startingWith = (start: string) => known.find((one) => one.toLowerCase().startsWith(start));
    const alike = startingWith(lower) ?? startingWith(lower.slice(0, 4));
    const others = isOfClass(options) ? OF_CLASS : `Known options: ${known.join(', ')}.`;
    const advice = alike === undefined ? others : `Did you mean "${alike}"?`;
    throw new ConfigurationError(name, `${call} does not know the option "${name}". ${advice}`);
  }
}

/** A function that a program mounted without calling it receives what the framework passes. */
const OF_CLASS = 'It was given a class instance, such as a request: call it yourself, with its options.';
const isOfClass = (value: object): boolean =>
  ![Object.prototype, null].includes(Object.getPrototypeOf(value));

/**
 * Describes a value for messages by its kind, never its content, so it is safe for keys and bodies. It never throws, even for a
 * value whose own code does, such as a proxy.
 *
 * @returns A short phrase, such as `undefined`, `a string`, `an Array`, `a Map` or `a promise: await it`.
 *
 * @example
 * kindOf(client.listPayoutBanks(query)); // 'a promise: await it'
 */
export function kindOf(value: unknown): string {
  try {
    if (value === null || value === undefined) return String(value);
    // Not `instanceof`: query builders are thenables too, and another realm has other classes.
    if ('then' in Object(value)) return 'a promise: await it';
    if (typeof value !== 'object') return `a ${typeof value}`;
    const name = Object.prototype.toString.call(value).slice(8, -1);
    return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
  } catch {
    return 'unreadable';
  }
}

// A string: parsing a class such as \p{Cf} takes 0.3 ms, which every program that loads this file would pay.
/** White space, quotation marks, control and format characters, U+FFFD of badly decoded bytes, and other invisible characters. */
const STRAY = '[\\s"\'`\\u2018-\\u201f\\u00ab\\u00bb\\ufffd\\p{C}\\p{DI}]';
/** Brackets around something to fill in, `your-…`, and one repeated character, in groups or not. */
const PLACEHOLDER = /^<.*>$|<[\w .-]+>|\$\{|\{\{|^your[-_.]|^([^-_.])(?:[-_.]*\1){3,}$/is;
/**
 * A key that consists only of these words, such as `change-me` or `test_key_1`. 16 random letters and digits are a sequence of
 * such words less than once in 10^20. The contract signs its examples with EXAMPLESIGNINGKEY, which is not one.
 */
const PLACEHOLDER_WORDS =
  /^(?:[-_.]|your|my|the|please|change|this|it|me|fill|put|insert|enter|replace|add|here|with|todo|tbd|fixme|test|dummy|fake|(?:example|sample)(?![a-z])|demo|default|placeholder|live|prod|dev|sandbox|account|merchant|signing|signature|secret|public|private|api|hmac|key|token|value|password|string)+\d{0,3}$/i;

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
  if (typeof key !== 'string') return `must be a string. It is ${kindOf(key)}.`;
  if (key === 'undefined' || key === 'null') {
    return `is the string "${key}". ${IS_SET}`;
  }
  if (PLACEHOLDER.test(key) || PLACEHOLDER_WORDS.test(key)) return 'contains a placeholder.';
  if (new RegExp(STRAY, 'u').test(key)) {
    return 'contains white space, a quotation mark or an invisible character. Copy the key as shown.';
  }
  return undefined;
}
