#!/usr/bin/env node
import { inspect } from 'node:util';
import { ConfigurationError, InvalidStateError, PaymentServiceError } from '@payment-service/core';
import { printableJson, printableLines } from '@payment-service/core/internal';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import type { SandboxDelivery } from '../service/views.ts';
import type { CheckReport } from '../state/records.ts';
import type { ExplainOptions } from './explain.ts';
import { CommandError, UsageError } from './failures.ts';
import { openSession, readKeys, type SessionOptions } from './session.ts';
import type { StartOptions } from './start.ts';
import type { ReversalOptions, TriggerOptions } from './trigger.ts';

const NAME = 'payment-service-sandbox';
const AFTER_HELP = `
'start' is the default: ${NAME} [options] [-- program args…]
For its options: ${NAME} start --help

Exit codes: 0 success, 1 failure, 2 usage error. Messages go to stderr.
`;

/** Reads a whole number, up to a maximum. */
const whole =
  (max: number, problem: string) =>
  (text: string): number => {
    if (/^\d{1,15}$/.test(text) && Number(text) <= max) return Number(text);
    throw new InvalidArgumentError(problem);
  };
const port = whole(65_535, 'It must be a number from 0 to 65535.');
const id = whole(1e15, 'It must be the number of a delivery, which the dashboard shows.');
const seconds = whole(1e9, 'It must be a whole number of seconds.');
const each = (text: string, before: string[] = []): string[] => [...before, text];

const COLON_IN = ['merchant_reference', 'internal_reference'];

/** The service shows no names for a reversal: these are made up, as in the recipes. */
const REVERSAL = { event: 'transaction.reversed', status: 'REVERSED' } as const;

/** The exit code of the subcommand. */
let exitCode = 0;

function createProgram(program: readonly string[]): Command {
  const root = new Command(NAME)
    .description('The whole payment service on this computer, simulated.')
    .version(manifest.version)
    .addHelpText('after', AFTER_HELP)
    .enablePositionalOptions()
    .showHelpAfterError(`Try ${NAME} --help.`)
    .configureOutput({
      outputError: (text, write) => write(printableLines(text.replace(/^error:/, `${NAME}:`))),
    })
    .exitOverride();

  root
    .command('start')
    .usage('[options] [-- program args…]')
    .description('starts the sandbox, and a program with the keys in its environment')
    .option('--port <number>', 'port to listen on; 0 for a free one', port, 4010)
    .option(
      '--host <address>',
      'address to listen on. With 0.0.0.0, as containers need it, anyone on the network can read the keys and move the simulated money',
      '127.0.0.1',
    )
    .option(
      '--file <path>',
      'keeps keys and state in this SQLite file, across restarts (default: .payment-service-sandbox/state.sqlite)',
    )
    .addOption(
      new Option('--memory', 'keeps nothing: new keys at each start, unless --seed is given').conflicts(
        'file',
      ),
    )
    .option('--keys-file <path>', 'writes the keys to this file, which only you can read')
    .option('--seed <text>', 'the same seed gives the same keys')
    .option('--callback-url <url>', 'where callbacks go, unless a request names another URL')
    .option(
      '--redirect-url <url>',
      "where the customer's browser returns to, unless a request names another URL",
    )
    .addOption(
      Object.assign(
        new Option(
          '--allow-host <host>',
          'a host beyond this computer, such as shop or shop:3000, that callbacks may go to and that requests may name; may be repeated',
        ).argParser(each),
        { attributeName: () => 'allowedHosts' },
      ),
    )
    .option(
      '--misbehave <what>',
      'what callbacks do wrong by default, with the same values as in trigger',
      each,
    )
    .option(
      '--retry <json>',
      'when callbacks are repeated by default, such as \'{"preset":"below-500","max_attempts":3}\'; presets: none, not-2xx, 5xx-and-429, below-500',
    )
    .option(
      '--endpoints <file>',
      "a JSON file with endpoints of your own contract, which start simulated payments; 'example' for made-up ones",
    )
    .addHelpText(
      'after',
      `
With a program, it waits for the port of --callback-url, sends one callback, and
prints what happened and why. The exit code is the program's.

  ${NAME} --callback-url http://127.0.0.1:3000/payments/callbacks -- node server.mjs`,
    )
    .allowExcessArguments()
    .passThroughOptions()
    .action(async (options: StartOptions, { args }: Command) => {
      if (args.length > 0)
        throw new UsageError(`Put the program after --, as in: ${NAME} [options] -- ${args.join(' ')}`);
      // Here and below, a subcommand loads what it needs: --help needs nothing.
      const { start } = await import('./start.ts');
      exitCode = await start(options, program);
    });

  const withKeys = (command: Command): Command =>
    command
      .option(
        '--keys-file <path>',
        'the file with the keys (default: the environment, or what start left here)',
      )
      .option('--json', 'prints JSON for programs');
  const withSession = (command: Command): Command =>
    withKeys(
      command.option(
        '--sandbox <url>',
        'the running sandbox (default: the one that was started in this folder)',
      ),
    );

  withSession(root.command('trigger'))
    .description('sends the callback of a payment, and prints what happened and why')
    .argument(
      '[reference]',
      'the merchant_reference of a payment that your program started; without it, or if no payment has it, a collection is started',
    )
    .option('--to <url>', "where the callback goes (default: the sandbox's --callback-url)")
    .option('--set <field=value>', 'a field of the collection or of the callback; may be repeated', each)
    .option(
      '--misbehave <what>',
      'a name, a name=value or JSON, such as duplicate or forged_amount=1; may be repeated',
      each,
    )
    .action(
      async (reference: string | undefined, options: TriggerOptions & SessionOptions & { json?: true }) => {
        const { trigger } = await import('./trigger.ts');
        const { transaction, deliveries } = await trigger(openSession(options), options, reference);
        await report(deliveries, options.json && { transaction });
      },
    );
  withSession(root.command('reverse'))
    .description('sends a callback that reports a payment as reversed; its event and status are made up')
    .argument('<reference>', 'the merchant_reference of the payment')
    .option('--event <name>', 'the event, which the service does not show', REVERSAL.event)
    .option('--status <name>', 'the transaction_status, which the service does not show', REVERSAL.status)
    .option('--to <url>', "where the callback goes (default: where the payment's callback goes)")
    .action(async (reference: string, options: ReversalOptions & SessionOptions & { json?: true }) => {
      const { reverse } = await import('./trigger.ts');
      const { transaction, deliveries } = await reverse(openSession(options), reference, options);
      await report(deliveries, options.json && { transaction });
    });
  withSession(root.command('resend'))
    .description('sends a delivery again')
    .argument('<id>', 'the number of the delivery', id)
    .action(async (delivery: number, options: SessionOptions & { json?: true }) => {
      const { resend } = await import('./trigger.ts');
      await report(await resend(openSession(options), delivery), options.json && {});
    });
  withSession(root.command('check'))
    .description('posts genuine and wrong callbacks to an endpoint; exit code 1 when a case fails')
    .argument('[url]', "the endpoint (default: the sandbox's --callback-url)")
    .action(async (url: string | undefined, options: SessionOptions & { json?: true }) => {
      const asked = url === undefined ? {} : { callback_url: url };
      const { check } = await openSession(options).call('POST', '/sandbox/check', asked);
      const found = check as CheckReport;
      if (options.json) console.log(printableJson(found));
      else (await import('./print.ts')).printCheck(found, process.stdout);
      if (!found.ok) exitCode = 1;
    });
  withKeys(root.command('explain'))
    .description('says why a recorded callback is refused; exit code 0 when it verifies')
    .option('--request <file>', 'an HTTP request, a curl command, or JSON with headers and body', '-')
    .option('--tolerance <seconds>', "the verifier's toleranceSeconds", seconds)
    .addOption(new Option('--colon-in <field>', "the verifier's colonIn").choices(COLON_IN))
    .action(async (options: ExplainOptions & SessionOptions & { json?: true }) => {
      const { explainRecorded } = await import('./explain.ts');
      const keys = readKeys(options.keysFile);
      const explanation = explainRecorded(options, keys);
      if (options.json) console.log(printableJson(explanation));
      else (await import('./print.ts')).printExplanation(explanation, process.stdout);
      exitCode = explanation.ok ? 0 : 1;
    });
  for (const command of root.commands) command.showHelpAfterError(`Try ${NAME} ${command.name()} --help.`);
  return root;
}

/** Prints deliveries; the exit code is 1 if one of them failed. */
async function report(deliveries: readonly SandboxDelivery[], json: object | undefined): Promise<void> {
  const { printDeliveries, wentWrong } = await import('./print.ts');
  if (json === undefined) await printDeliveries(deliveries, process.stdout);
  else console.log(printableJson({ ...json, deliveries }));
  if (deliveries.some(wentWrong)) exitCode = 1;
}

async function main(given: readonly string[]): Promise<void> {
  const end = given.indexOf('--');
  const own = end === -1 ? given : given.slice(0, end);
  const program = end === -1 ? [] : given.slice(end + 1);
  // The default subcommand is 'start', but the help without one lists all subcommands.
  const [first = 'start'] = own;
  const isDefault =
    own.length === 0 || (first.startsWith('-') && !['-h', '--help', '-V', '--version'].includes(first));
  await createProgram(program).parseAsync(isDefault ? ['start', ...own] : own, { from: 'user' });
}

/** The error messages of the API name its options. For users of the command, their flags replace them. */
function inFlags(error: Error): string {
  const options = createProgram([]).commands.flatMap((command) => command.options);
  const flags = new Map(options.map((option) => [option.attributeName(), option.long]));
  const isOfApi = error instanceof ConfigurationError || error instanceof InvalidStateError;
  return error.message.replace(
    /^\w+(?=[ :[])|(?<=[Ll]eave )\w+|\b[a-z]+[A-Z]\w*\b/g,
    (word) => (isOfApi || /[A-Z]/.test(word) ? flags.get(word) : undefined) ?? word,
  );
}

function failed(error: unknown): number {
  // Commander has already printed its message.
  if (error instanceof CommanderError) {
    if (error.code === 'commander.unknownCommand' && !/Did you mean/.test(error.message))
      console.error(`To start a program, put it after --, as in: ${NAME} -- node server.mjs`);
    return error.exitCode === 0 ? 0 : 2;
  }
  const isExpected = error instanceof CommandError || error instanceof PaymentServiceError;
  console.error(printableLines(isExpected ? `${NAME}: ${inFlags(error)}` : inspect(error)));
  if (error instanceof ConfigurationError) {
    console.error(error.docs);
    return 2;
  }
  return error instanceof CommandError ? error.exitCode : 1;
}

// The reader of a pipe that ends early, such as `head`, needs no more.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
// Not awaited here: modules that this file loads later may import its chunk, which would then wait for itself.
void main(process.argv.slice(2))
  .then(() => exitCode, failed)
  .then((code) => {
    process.exitCode = code;
  });
