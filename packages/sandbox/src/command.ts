#!/usr/bin/env node
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PaymentServiceError } from '@payment-service/core';
import { createSandbox, type Sandbox } from './sandbox.ts';

const help = `payment-service-sandbox: the whole payment service on this computer, simulated.

Usage: payment-service-sandbox [options]

  --port <number>         port to listen on; 0 takes a free one (4010)
  --host <address>        address to listen on (127.0.0.1). With 0.0.0.0, as containers
                          need it, anyone on the network can read the keys and move
                          the simulated money
  --file <path>           keeps keys and state in this SQLite file, across restarts
                          (.payment-service-sandbox/state.sqlite in the working directory)
  --memory                keeps nothing: other keys at each start, unless --seed is given
  --seed <text>           the same seed gives the same keys
  --callback-url <url>    where callbacks go when a request does not say
  --redirect-url <url>    where the customer's browser goes back to when a request does not say
  --allow-host <host>     a host beyond this computer, such as shop or shop:3000: callbacks
                          may go to it, and requests under its name are answered; may be
                          repeated
  --misbehave <json>      what callbacks do wrong when a request does not say, such as '{"duplicate":1}'
  --retry <json>          how callbacks are repeated, such as '{"preset":"below-500","max_attempts":3}';
                          presets: none, not-2xx, 5xx-and-429, below-500
  --help                  shows this text
`;

/** Wrong use of the command: the message is all that the user needs. */
class UsageError extends Error {}

const readJson = (option: string, text: string | undefined): object | undefined => {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`--${option} must be JSON, such as '{}'.`, { cause });
  }
};

const readPort = (text: string): number => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new UsageError('--port must be a number from 0 to 65535.');
  return port;
};

const readArguments = (args: string[]) => {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: 'string', default: '4010' },
        host: { type: 'string', default: '127.0.0.1' },
        file: { type: 'string' },
        memory: { type: 'boolean', default: false },
        seed: { type: 'string' },
        'callback-url': { type: 'string' },
        'redirect-url': { type: 'string' },
        'allow-host': { type: 'string', multiple: true },
        misbehave: { type: 'string' },
        retry: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
};

const DIRECTORY = '.payment-service-sandbox';

/** The file of this working directory, in a directory that version control leaves out. */
function ownFile(): string {
  try {
    mkdirSync(DIRECTORY, { recursive: true });
    writeFileSync(join(DIRECTORY, '.gitignore'), '*\n');
  } catch (cause) {
    const message = `${DIRECTORY} could not be made in the working directory. Name another file with --file, or start with --memory.`;
    throw new UsageError(message, { cause });
  }
  return join(DIRECTORY, 'state.sqlite');
}

const introduce = (
  url: string,
  { account }: Sandbox,
  file: string | undefined,
): string => `Payment service sandbox: ${url}

  public key   ${account.publicKey}
  secret key   ${account.secretKey}
  signing key  ${account.signingKey}

${file === undefined ? 'Nothing is kept: the next start has other keys, unless --seed is given.' : `Keys and state are kept in ${file}.`}

Open ${url} for wallets, transactions, deliveries, and to start a payment. Or:

  curl -H 'public-key: ${account.publicKey}' '${url}/data/payment-providers?currency=UGX&transaction_type=COLLECTION'

  curl -H 'public-key: ${account.publicKey}' -H 'secret-key: ${account.secretKey}' \\
    -H 'content-type: application/json' '${url}/sandbox/collections' \\
    -d '{"merchant_reference":"ORD-1","amount":500,"currency":"UGX","provider_code":"example_mobile_money","account":"256772000001"}'

Ctrl-C stops it.
`;

async function main(args: string[]): Promise<void> {
  const values = readArguments(args);
  if (values.help) {
    console.log(help);
    return;
  }
  const port = readPort(values.port);
  if (values.memory && values.file !== undefined) {
    throw new UsageError('--file and --memory exclude each other.');
  }
  const file = values.memory ? undefined : (values.file ?? ownFile());
  const sandbox = createSandbox({
    file,
    seed: values.seed,
    callbackUrl: values['callback-url'],
    redirectUrl: values['redirect-url'],
    allowedHosts: values['allow-host'],
    misbehave: readJson('misbehave', values.misbehave),
    retry: readJson('retry', values.retry),
  });
  try {
    const { url } = await sandbox.listen({ port, host: values.host });
    console.log(introduce(url, sandbox, file));
  } catch (error) {
    await sandbox.close();
    throw error;
  }
  // Once each: a second Ctrl-C ends the process at once, with what is in flight.
  const stop = (): void => {
    sandbox.close().catch(report);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

function report(error: unknown): void {
  const isExpected = error instanceof UsageError || error instanceof PaymentServiceError;
  console.error(isExpected ? `payment-service-sandbox: ${error.message}` : error);
  if (error instanceof UsageError) console.error('Try payment-service-sandbox --help.');
  process.exitCode = 1;
}

main(process.argv.slice(2)).catch(report);
