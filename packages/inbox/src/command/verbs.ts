import { printableJson } from '@payment-service/core/internal';
import { type Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Pairs } from '../reconciliation/read-statement.ts';
import { TRANSITION_STATES } from '../states.ts';
import type { OpenOptions } from './open-inbox.ts';

/** The options that every verb has. */
export interface Given extends OpenOptions {
  readonly json?: true;
}

/** A verb of the command, as data. */
interface Verb<Own, Result> {
  readonly name: string;
  readonly about: string;
  readonly argument?: Argument;
  readonly options?: readonly Option[];
  readonly run: (given: Own & Given, argument: string | undefined) => Promise<Result>;
  /** The output for a person; programs get the result as JSON. */
  readonly print: (result: Result, given: Own & Given) => void;
  /** Whether the result needs a person: exit code 3. */
  readonly needsPerson?: (result: Result) => boolean;
}

const NEEDS_PERSON = 3;

/** Adds the verb to the program. */
export function verb<Own extends object, Result>({
  name,
  about,
  argument,
  options = [],
  run,
  print,
  needsPerson = () => false,
}: Verb<Own, Result>): (program: Command) => void {
  return (program) => {
    const command = program.command(name).description(about);
    if (argument !== undefined) command.addArgument(argument);
    for (const each of options) command.addOption(each);
    command.action(async () => {
      const given = { ...program.opts<Given>(), ...command.opts<Own>() };
      const result = await run(given, command.processedArgs[0]);
      if (given.json) console.log(printableJson(result));
      else print(result, given);
      if (needsPerson(result)) process.exitCode = NEEDS_PERSON;
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

/** Who acts and why; required for every decision of a person. */
export const BY_PERSON: readonly Option[] = [
  option('--by <name>', 'who acts; kept with the transition').makeOptionMandatory(),
  option('--note <string>', 'why; kept with the transition').makeOptionMandatory(),
];
/** A new one for each verb. */
export const ofState = (about: string): Option => option('--state <state>', about).choices(TRANSITION_STATES);
export const SPOOL: Option = option(
  '--spool <path>',
  'the folder of the option spool; beside a SQLite file it is found',
);

export const id = (text: string): string => {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError("An id must have 64 lower-case hexadecimal digits; 'ls' prints it.");
};

export const moment = (text: string): Date => {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('It must be a date, such as 2026-01-31 or 2026-01-31T09:00Z.');
};

export const upTo =
  (max: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
