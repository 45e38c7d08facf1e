import { printableJson } from '@payment-service/core/internal';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Pairs } from '../reconciliation/pairs.ts';
import { TRANSITION_STATES } from '../states.ts';
import type { OpenOptions } from './open-inbox.ts';

/** A verb of the command, as data. `Own` has its own options. */
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
      const own = command.opts<Own>();
      const { json, ...open } = program.opts<OpenOptions & { json?: true }>();
      const result = await run(own, open, command.processedArgs[0]);
      const output = json ? printableJson(result) : format(result, own, open);
      if (output !== '') console.log(output);
      if (needsPerson?.(result)) process.exitCode = NEEDS_PERSON;
    });
  };
}

/** @param parse Parses the given string; gets the previous value if the option is repeated. */
export function option(
  flags: string,
  about: string,
  parse?: (text: string, known: Pairs | undefined) => unknown,
  preset?: unknown,
): Option {
  const made = new Option(flags, about);
  if (parse !== undefined) made.argParser<unknown>((text, known) => parse(text, known as Pairs | undefined));
  return preset === undefined ? made : made.default(preset);
}

export const required = (...given: Parameters<typeof option>): Option =>
  option(...given).makeOptionMandatory();

/** Who acts and why; required for every decision of an operator. */
export const BY_PERSON: readonly Option[] = [
  required('--by <name>', 'who acts; kept with the transition'),
  required('--note <string>', 'why; kept with the transition'),
];
export const STATE: Option = option('--state <state>', 'in this state').choices(TRANSITION_STATES);
export const SPOOL: Option = option(
  '--spool <path>',
  'the folder of the option spool; beside a SQLite file it is found',
);

export const ofTransition = (name: string): Argument => new Argument(name, 'of the transition').argParser(id);

export function id(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError("An id must have 64 lower-case hexadecimal digits; 'ls' prints it.");
}

export function moment(text: string): Date {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('It must be a date, such as 2026-01-31 or 2026-01-31T09:00Z.');
}

export const upTo =
  (max: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
