import { printable, printableJson } from '@payment-service/core/internal';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { endIn, isTimeZone, momentIn } from '../time-zone.ts';
import { inFlags } from './failure.ts';
import type { OpenOptions } from './open-inbox.ts';

export const NAME = 'payment-service-inbox';

/** A verb of the command, as data. `Own` is the type of its options. */
interface Verb<Own, Result> {
  readonly name: string;
  readonly about: string;
  readonly argument?: Argument;
  readonly options?: readonly Option[];
  readonly run: (own: Own, open: OpenOptions, argument: string | undefined) => Promise<Result>;
  /** What an operator reads; programs get the result as JSON. */
  readonly format: (result: Result, own: Own, open: OpenOptions) => string;
  /** Whether the result needs an operator: exit code 3. */
  readonly needsPerson?: (result: Result) => boolean;
}

/** Adds a verb to the program. */
export type AddVerb = (program: Command) => void;

const NEEDS_PERSON = 3;

export function verb<Own extends object, Result>(made: Verb<Own, Result>): AddVerb {
  const { name, about, argument, options = [], run, format, needsPerson } = made;
  return (program) => {
    const command = program.command(name).description(about);
    if (argument !== undefined) command.addArgument(argument);
    for (const each of options) command.addOption(each);
    command.action(async () => {
      const { json, timeZone, ...open } = program.opts<OpenOptions & { json?: true; timeZone: string }>();
      const own = datesIn(timeZone, command.opts<Own>());
      const running = run(own, open, command.processedArgs[0]);
      const result = await running.catch((error: unknown) => {
        throw inFlags(error, command);
      });
      const output = json ? printableJson(result) : format(result, own, open);
      if (output !== '') console.log(output);
      if (needsPerson?.(result)) process.exitCode = NEEDS_PERSON;
    });
  };
}

/** @param parse Parses the given string; gets the previous value if the option is repeated. */
export function option<Value>(
  flags: string,
  about: string,
  parse?: (text: string, known: Value | undefined) => Value,
  preset?: unknown,
): Option {
  const made = new Option(flags, about);
  if (parse !== undefined) made.argParser<Value>((text, known) => parse(text, known));
  return preset === undefined ? made : made.default(preset);
}

export const required = <Value>(...given: Parameters<typeof option<Value>>): Option =>
  option(...given).makeOptionMandatory();

/** Under the name that the API has for it, which its messages use. */
export const named = (name: string, flag: Option): Option =>
  Object.assign(flag, { attributeName: () => name });

export const TIME_ZONE: Option = option(
  '--time-zone <name>',
  'the time zone of dates, such as Africa/Kampala',
  (text: string) => {
    if (isTimeZone(text)) return text;
    throw new InvalidArgumentError('It must be the name of a time zone, such as Africa/Kampala or UTC.');
  },
  'UTC',
);
export const SPOOL: Option = option(
  '--spool <path>',
  'the folder of the option spool; found automatically beside a SQLite file',
);
/** The options of a list. */
export const PAGE: readonly Option[] = [
  option('--since <date>', 'changed at or after this time; a date begins at midnight', moment),
  option('--until <date>', 'changed before this time; a date without a time includes its day', endMoment),
  option('--limit <number>', 'at most this many, up to 1000', upTo(1000), 50),
];
export const REFERENCE: Argument = new Argument('[reference]', 'the merchant_reference of the payment');

/** A date as it was typed. Which moment it names depends on --time-zone, which may come after it. */
type Typed = (timeZone: string) => Date | undefined;

function typed(text: string, read: typeof momentIn): Typed {
  if (momentIn('UTC', text) !== undefined) return (timeZone) => read(timeZone, text);
  throw new InvalidArgumentError('It must be a date, such as 2026-01-31 or 2026-01-31T09:00Z.');
}

export function moment(text: string): Typed {
  return typed(text, momentIn);
}

/** The end of a period. A date without a time is in it. */
export function endMoment(text: string): Typed {
  return typed(text, endIn);
}

function datesIn<Own extends object>(timeZone: string, given: Own): Own {
  const read = (value: unknown): unknown => (typeof value === 'function' ? value(timeZone) : value);
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, read(value)])) as Own;
}

export function upTo(max: number, min = 1): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** The command to type for the same inbox. A reference can have any characters: none of them reaches the shell (threat A47). */
export function lineOf(open: OpenOptions, verb: string, reference?: string, ...options: string[]): string {
  const inbox = Object.entries(open).filter(([, value]) => value !== 'payment_inbox');
  const all = [...options, ...inbox.flatMap(([flag, value]) => [`--${flag}`, String(value)])];
  const named = reference === undefined ? [] : [reference];
  const words = reference?.startsWith('-') ? [...all, '--', ...named] : [...named, ...all];
  return printable(['npx', NAME, verb, ...words].map(quoted).join(' '));
}

/** For a shell. */
export const quoted = (word: string): string =>
  /^[\w.,:@/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
