#!/usr/bin/env node
import { printableLines } from '@payment-service/core/internal';
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { ACTS } from './act-verbs.ts';
import { DOCTOR } from './doctor/doctor.ts';
import { EVIDENCE } from './evidence-verbs.ts';
import { explained, WrongUse } from './failure.ts';
import { HEALTH } from './health-verb.ts';
import { PAYMENTS } from './payment-verbs.ts';
import { RECONCILE } from './reconcile-verbs.ts';
import { TABLES } from './tables.ts';
import { NAME, TIME_ZONE } from './verbs.ts';

const VERBS = [...PAYMENTS, ...ACTS, ...EVIDENCE, RECONCILE, HEALTH, DOCTOR, ...TABLES];
const AFTER_HELP = `
The database: --database for a SQLite file, or DATABASE_URL in the environment for
PostgreSQL, through the package pg of the current folder.

Exit codes: 0 done, 1 not done, 2 usage error, 3 done, and something needs a person.
Messages are on stderr.
`;

function createProgram(): Command {
  const program = new Command(NAME)
    .description('Says what became of payments, and acts on those that need a person.')
    .version(manifest.version)
    .option('--database <path>', 'the SQLite file of the inbox; it must exist')
    .option('--schema <name>', 'the schema of the tables on PostgreSQL', 'payment_inbox')
    .option('--account <label>', 'the account of the inbox, if it has one')
    .option('--json', 'print JSON for programs')
    .addOption(TIME_ZONE)
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', AFTER_HELP)
    .showHelpAfterError(`Try ${NAME} --help.`)
    .configureOutput({
      outputError: (text, write) => write(printableLines(text.replace(/^error:/, `${NAME}:`))),
    })
    .exitOverride();
  for (const add of VERBS) add(program);
  for (const verb of program.commands) verb.showHelpAfterError(`Try ${NAME} ${verb.name()} --help.`);
  return program;
}

function report(error: unknown): number {
  // Commander has printed its own.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  console.error(`${NAME}: ${printableLines(explained(error))}`);
  return error instanceof WrongUse ? 2 : 1;
}

// The reader of a pipe that ends early, such as `head`, has read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    process.exitCode = report(error);
  });
