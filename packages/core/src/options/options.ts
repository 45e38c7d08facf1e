import { ConfigurationError } from '../errors.ts';

/** The check of an option, and its description in messages. */
export type OptionRule = readonly [isValid: (value: unknown) => boolean, shape: string, isRequired?: true];
/** Every option of a function; undefined for one with a check of its own. */
export type OptionRules<T> = { readonly [Name in keyof Required<T>]: OptionRule | undefined };

/** Timers hold 31 bits; a longer one would fire immediately. */
const MAX_TIMER_MS = 2_147_483_647;

export const REQUIRED = true;

export const FUNCTION: OptionRule = [(value) => typeof value === 'function', 'a function'];
export const BOOLEAN: OptionRule = [(value) => typeof value === 'boolean', 'true or false'];
/** An object of any class, such as one that holds options. */
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
 * Checks the options of a function, at construction. An unknown one is refused: a misspelled `onCallback` would otherwise
 * silently turn a handler off.
 *
 * @param call The function, as the message names it.
 * @throws {ConfigurationError} Names the option, and what was passed where its type is wrong. For an unknown one, also the most
 * similar known option.
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
 * Checks an argument that is not an object of options, at the edge of an exported function.
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
    // It cannot be read: a proxy that throws.
  }
  refuseArgument(call, argument, shape, value);
}

/** @throws {ConfigurationError} Always. */
export function refuseArgument(call: string, argument: string, shape: string, value: unknown): never {
  throw new ConfigurationError(argument, `${call}: ${argument} must be ${shape}. It is ${kindOf(value)}.`);
}

/** Shapes that no string has. A shape of other words, such as choices, can be that of a string. */
const NOT_A_STRING =
  /^(?:\{|an? (?:function|object|list|map|store|schema|(?:whole )?number|HTTP status|valid Date|AbortSignal)\b|true,? or\b)/;
/** By the kind of a value, what the shapes of such values say. */
const WORDS_OF_KIND: Readonly<Record<string, RegExp>> = {
  'a number': /number|HTTP status/,
  'a Date': /Date/,
  'a boolean': /^true/,
  'a function': /function/,
  'an Array': /list/,
  'an Object': /object|map|store|schema|provider|inbox|\{/,
};

/** Says what a value is, unless a valid value can be that as well: "It is a number." explains nothing about one out of range. */
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

/** A function that a program has mounted without calling it gets what its framework passes. */
const OF_CLASS = 'It was given an object of a class, such as a request: call it yourself, with its options.';
const isOfClass = (value: object): boolean =>
  ![Object.prototype, null].includes(Object.getPrototypeOf(value));

/**
 * What a value is, as messages say it: never what it contains, so that a key or a body can be described. A value whose own code
 * throws, such as a proxy, cannot make this throw.
 *
 * @returns A short phrase, such as `undefined`, `a string`, `an Array`, `a Map` or `a promise: await it`.
 *
 * @example
 * kindOf(client.listPayoutBanks(query)); // 'a promise: await it'
 */
export function kindOf(value: unknown): string {
  try {
    if (value === null || value === undefined) return String(value);
    // Not `instanceof`: query builders are promises too, and another realm has its own classes.
    if ('then' in Object(value)) return 'a promise: await it';
    if (typeof value !== 'object') return `a ${typeof value}`;
    const name = Object.prototype.toString.call(value).slice(8, -1);
    return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
  } catch {
    return 'unreadable';
  }
}

// As text: to parse a class such as \p{Cf} takes 0.3 ms, which every program would pay that loads this file.
/** White space, quotation marks, control and format characters, those of decoded bytes, and others that a screen does not show. */
const STRAY = '[\\s"\'`\\u2018-\\u201f\\u00ab\\u00bb\\ufffd\\p{C}\\p{DI}]';
/** Brackets for what is to be filled in, `your-…`, and one character that is repeated, in groups or not. */
const PLACEHOLDER = /^<.*>$|<[\w .-]+>|\$\{|\{\{|^your[-_.]|^([^-_.])(?:[-_.]*\1){3,}$/is;
/**
 * A key that consists of these words alone, such as `change-me` or `test_key_1`. Of 62 letters and digits, 16 at random are a
 * sequence of such words less than once in 10^20. The contract signs its examples with EXAMPLESIGNINGKEY, which is not one.
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
