#!/usr/bin/env node
import { printableJson, printableLines } from '@payment-service/core/receive';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { TransitionSelection } from '../operator/actions.ts';
import { TRANSITION_STATES, type TransitionReason, type TransitionState } from '../states.ts';
import { NoInboxError, type OpenOptions, type OperatedInbox, withInbox } from './open-inbox.ts';
import { printDetails, printList, printStats } from './print.ts';

const NAME = 'payment-service-inbox';
const AFTER_HELP = `
The database: --database for a SQLite file, or DATABASE_URL in the environment for
PostgreSQL, through the package pg of the folder that you are in.

Exit codes: 0 done, 1 not done, 2 wrong use. Messages are on stderr.
`;

/** What a person does wrong in an action's options; the inbox says how. */
const OPTIONS_OF_THE_USER = ['account', 'schema', 'database', 'by', 'note', 'body'];

interface Selected {
  readonly state?: TransitionState;
  readonly reason?: TransitionReason;
  readonly limit?: number;
}
interface Listed extends Selected {
  readonly reference?: string;
  readonly internalReference?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly after?: string;
}
interface Acted extends Selected {
  readonly by: string;
  readonly note: string;
  readonly body?: string;
}
type Action = (inbox: OperatedInbox, which: string | TransitionSelection, given: Acted) => Promise<number>;

const id = (text: string): string => {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError("An id has 64 lower-case hexadecimal digits; 'ls' prints it.");
};
const limit = (text: string): number => {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 1000) return value;
  throw new InvalidArgumentError('It must be a whole number from 1 to 1000.');
};
const moment = (text: string): Date => {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('It must be a date, such as 2026-01-31 or 2026-01-31T09:00Z.');
};
const state = () => new Option('--state <state>', 'in this state').choices(TRANSITION_STATES);

function createProgram(): Command {
  const program = new Command(NAME)
    .description('Looks at the inbox of callbacks, and acts on what waits for a person.')
    .option('--database <path>', 'the SQLite file of the inbox; it must exist')
    .option('--schema <name>', 'the schema of the tables on PostgreSQL', 'payment_inbox')
    .option('--account <label>', 'the account of the inbox, if it has one')
    .option('--json', 'print JSON for programs')
    .addHelpText('after', AFTER_HELP)
    .showHelpAfterError(`Try ${NAME} --help.`)
    .configureOutput({
      outputError: (text, write) => write(printableLines(text.replace(/^error:/, `${NAME}:`))),
    })
    .exitOverride();
  const opened = (): OpenOptions & { readonly json?: true } => program.opts();
  const use = <T>(work: (inbox: OperatedInbox) => Promise<T>): Promise<T> => withInbox(opened(), work);

  program
    .command('ls')
    .description('lists transitions, the newest first')
    .addOption(state())
    .option('--reason <reason>', 'with this reason, such as amount_mismatch')
    .option('--reference <text>', 'with exactly this merchant_reference')
    .option('--internal-reference <text>', 'with exactly this internal_reference; reads every transition')
    .option('--since <date>', 'changed at or after it', moment)
    .option('--until <date>', 'changed before it', moment)
    .option('--limit <number>', 'at most this many, up to 1000', limit, 50)
    .option('--after <id>', 'the page after this transition', id)
    .action(async ({ reference, internalReference, ...rest }: Listed) => {
      const found = await use((inbox) =>
        inbox.list({ ...rest, merchant_reference: reference, internal_reference: internalReference }),
      );
      if (opened().json) console.log(printableJson(found));
      else printList(found);
    });
  program
    .command('show')
    .description('shows one transition, with its bodies and what people did')
    .argument('<id>', 'of the transition', id)
    .option('--bodies', 'print the text of the bodies, which holds personal data')
    .action(async (transitionId: string, { bodies = false }: { bodies?: boolean }) => {
      const found = await use((inbox) => inbox.show(transitionId));
      if (found === undefined) throw new NoInboxError('No transition of this account has this id.');
      const shown = bodies
        ? found
        : { ...found, bodies: found.bodies.map(({ text: _, ...body }) => ({ ...body, text: undefined })) };
      if (opened().json) console.log(printableJson(shown));
      else printDetails(shown);
    });
  program
    .command('stats')
    .description('counts the transitions of each state and reason')
    .action(async () => {
      // The spool is the receiver's: this command does not open it, and so does not count it.
      const { spooled: _, ...stats } = await use((inbox) => inbox.stats());
      if (opened().json) console.log(printableJson(stats));
      else printStats(stats);
    });

  const action = (name: string, description: string, act: Action): Command =>
    program
      .command(name)
      .description(description)
      .argument('[id]', 'of the transition', id)
      .requiredOption('--by <name>', 'who acts; kept with the transition')
      .requiredOption('--note <text>', 'why; kept with the transition')
      .action(async (transitionId: string | undefined, given: Acted, command: Command) => {
        const { state: ofState, reason, limit: most } = given;
        const selected = ofState && { state: ofState, reason, limit: most };
        const which = transitionId ?? selected;
        if (which === undefined || (transitionId && selected)) {
          return command.error(`error: ${name} takes an id${name === 'reopen' ? '' : ', or --state'}`);
        }
        const moved = await use((inbox) => act(inbox, which, given));
        if (opened().json) console.log(printableJson({ moved }));
        else console.log(`${moved} ${moved === 1 ? 'transition' : 'transitions'} moved.`);
      });
  const many = (command: Command): Command =>
    command
      .addOption(state())
      .option('--reason <reason>', 'with --state: only those with this reason')
      .option('--limit <number>', 'with --state: at most this many', limit);

  many(
    action('retry', 'puts transitions back to work with all attempts', (inbox, which, { by, note }) =>
      inbox.retry(which, { by, note }),
    ),
  );
  many(
    action('resolve', 'closes transitions, or accepts a body', (inbox, which, { by, note, body }) =>
      inbox.resolve(which, { by, note, body }),
    ),
  ).option('--body <digest>', 'accept this body, when no expectation is known, and have it applied');
  action('reopen', 'has a closed transition applied once more', async (inbox, which, { by, note }) => {
    if (typeof which === 'string') await inbox.reopen(which, { by, note });
    return 1;
  });
  return program;
}

function report(error: unknown): number {
  // Commander has printed its own.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const { message, code, option, errors } = partsOf(error);
  // An AggregateError of Node, after a connection was refused, has no message of its own.
  console.error(`${NAME}: ${printableLines(message || errors || code || String(error))}`);
  return code === 'invalid_configuration' && OPTIONS_OF_THE_USER.includes(option) ? 2 : 1;
}

function partsOf(error: unknown): { message: string; code: string; option: string; errors: string } {
  if (!(error instanceof Error)) return { message: String(error), code: '', option: '', errors: '' };
  return {
    message: error.message,
    code: 'code' in error ? String(error.code) : '',
    option: 'option' in error ? String(error.option) : '',
    errors:
      error instanceof AggregateError ? error.errors.map((each) => partsOf(each).message).join(', ') : '',
  };
}

// The reader of a pipe that ends early, such as `head`, has what it wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    process.exitCode = report(error);
  });
