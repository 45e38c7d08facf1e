import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createSandbox, type Sandbox } from '../sandbox.ts';
import { exampleEndpoints, type SandboxEndpoint } from '../service/endpoints.ts';
import { listensElsewhere } from './endpoint.ts';
import { CommandError, reasonOf, UsageError } from './failures.ts';
import { createStory, printSummary, wentWrong } from './print.ts';
import { accepts, type Program, portOf, startProgram } from './program.ts';
import {
  type KeyVariables,
  keyVariables,
  OWN_KEYS_FILE,
  ownStateFile,
  type Session,
  sessionWith,
  writeKeys,
} from './session.ts';
import { curlOf, endpointLines } from './shown-endpoints.ts';
import { jsonObject, readMisbehaviours, trigger } from './trigger.ts';

export interface StartOptions {
  readonly port: number;
  readonly host: string;
  /** @default .payment-service-sandbox/state.sqlite in the working directory */
  readonly file?: string;
  readonly memory?: true;
  readonly seed?: string;
  readonly callbackUrl?: string;
  readonly redirectUrl?: string;
  readonly allowedHosts?: string[];
  readonly misbehave?: string[];
  readonly retry?: string;
  readonly keysFile?: string;
  readonly endpoints?: string;
}

const POLL_MS = 50;
const PATIENCE_MS = 10_000;
/** A program that has listened elsewhere for this long is probably misconfigured. */
const SETTLED_MS = 1000;
/** The exit code of a program that SIGINT has ended. */
const INTERRUPTED = 130;

/**
 * Starts the sandbox and the named program, which receives the keys in its environment, and one callback as soon as it listens.
 * Resolves with the program's exit code; without a program, with 0 after Ctrl-C.
 */
export async function start(options: StartOptions, program: readonly string[]): Promise<number> {
  const { keysFile } = options;
  const file = options.memory ? undefined : (options.file ?? ownStateFile());
  const endpoints = options.endpoints === undefined ? undefined : await readEndpoints(options.endpoints);
  const isAlone = program.length === 0;
  // The program's own output goes to stdout; what the sandbox says about it goes to stderr.
  const stream = isAlone ? process.stdout : process.stderr;
  const story = createStory(stream);
  const sandbox = createSandbox({
    onAttempt: story.tell,
    endpoints,
    file,
    seed: options.seed,
    callbackUrl: options.callbackUrl,
    redirectUrl: options.redirectUrl,
    allowedHosts: options.allowedHosts,
    misbehave: options.misbehave && readMisbehaviours(options.misbehave),
    retry: options.retry === undefined ? undefined : jsonObject(options.retry, '--retry'),
  });
  try {
    const { url } = await sandbox.listen({ port: options.port, host: options.host });
    const variables = keyVariables(url, sandbox.account);
    if (!options.memory && options.file === undefined) writeKeys(OWN_KEYS_FILE, variables);
    if (keysFile !== undefined) writeKeys(keysFile, variables);
    const before = sandbox.deliveries().at(-1)?.id ?? 0;
    if (isAlone) console.log(introduction(url, sandbox, options, file));
    if (endpoints !== undefined) stream.write(`${endpointLines(endpoints)}\n\n`);
    if (isAlone && endpoints?.[0] !== undefined)
      stream.write(`${curlOf(endpoints[0], url, sandbox.account)}\n\n`);
    if (isAlone) console.log('Ctrl-C stops it.\n');
    const starts = endpoints !== undefined;
    const code = isAlone ? await interrupted() : await runWith(sandbox, variables, program, story, starts);
    await story.told();
    const own = sandbox.deliveries().filter(({ id }) => id > before);
    printSummary(own, stream);
    return code;
  } finally {
    await sandbox.close();
  }
}

/** The list in the file, unchecked: `createSandbox()` names what is wrong in it. */
async function readEndpoints(file: string): Promise<readonly SandboxEndpoint[]> {
  if (file === 'example') return exampleEndpoints;
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`--endpoints: ${file} could not be read: ${reasonOf(cause)}.`, { cause });
  });
  const wrong = `--endpoints: ${file} must be a JSON list of endpoints.`;
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list;
  } catch (cause) {
    throw new UsageError(`${wrong} ${reasonOf(cause)}.`, { cause });
  }
  throw new UsageError(wrong);
}

type Story = ReturnType<typeof createStory>;

async function runWith(
  sandbox: Sandbox,
  variables: KeyVariables,
  command: readonly string[],
  story: Story,
  /** Whether the program starts payments at endpoints of its own contract, and then receives their callbacks. */
  isStarting: boolean,
): Promise<number> {
  const session = sessionWith({ variables, source: 'this sandbox' }, variables.BASE_URL, sandbox.fetch);
  const { callback_url: address } = await session.call('GET', '/sandbox/settings');
  const target = typeof address === 'string' ? new URL(address) : undefined;
  if (target !== undefined && (await accepts(target))) {
    throw new CommandError(
      `Port ${portOf(target)} is in use: another program would receive the callbacks. Stop that one, or choose another port.`,
    );
  }
  const to = target === undefined ? '' : `, which sends callbacks to ${target}`;
  console.error(`Payment service sandbox: ${variables.BASE_URL}${to}`);
  // A verifier refuses sandbox keys unless NODE_ENV names development or a test.
  const program = await startProgram(command, {
    ...variables,
    NODE_ENV: process.env['NODE_ENV'] || 'development',
  });
  if (target === undefined)
    console.error('No callback was sent. Set its address with --callback-url, before --.');
  else if (await listens(program, target)) await sendFirst(session, story, isStarting);
  const code = await program.ended;
  // Ctrl-C on a terminal reaches both processes, and the program may end first.
  if (code === 0 || code === INTERRUPTED || program.isStopped()) return code;
  console.error(
    `${program.name} ended with exit code ${code}. This command runs on Node ${process.versions.node}.`,
  );
  return code;
}

/** Resolves when the program accepts connections, or has ended; says meanwhile where it listens instead. */
async function listens(program: Program, target: URL): Promise<boolean> {
  const ending = new AbortController();
  const over = program.ended.finally(() => ending.abort());
  const nowhere = `Nothing listens on ${target.host} yet. Does ${program.name} listen on this address and port?`;
  let [elsewhere, since]: [string | undefined, number] = [undefined, performance.now()];
  let isTold = false;
  let isListening = await accepts(target);
  while (!isListening && !ending.signal.aborted) {
    const words: string | undefined = isTold
      ? elsewhere
      : await listensElsewhere(program.pid, program.name, target);
    if (words !== elsewhere) [elsewhere, since] = [words, performance.now()];
    else if (performance.now() - since >= (words === undefined ? PATIENCE_MS : SETTLED_MS)) {
      [isTold, since] = [words !== undefined, Number.POSITIVE_INFINITY];
      console.error(words ?? nowhere);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    isListening = !ending.signal.aborted && (await accepts(target));
  }
  if (!isListening) {
    const code = await over;
    const next = code === 0 ? 'Does it call listen() with this port?' : 'Its output above says why.';
    if (!program.isStopped())
      console.error(`${program.name} ended before it listened on ${target.host}. ${next}`);
  }
  return isListening;
}

async function sendFirst(session: Session, { told }: Story, isStarting: boolean): Promise<void> {
  if (isStarting) {
    console.error('Your program is listening. Start a payment with it: its callback appears here.');
    return;
  }
  const { deliveries } = await trigger(session, {});
  await told();
  if (deliveries.some(wentWrong)) return;
  console.error(
    `\nNext, in another terminal here, try: npx payment-service-sandbox trigger --misbehave forged_amount=5000000`,
  );
}

/** Once each: a second Ctrl-C ends the process immediately, along with what is in flight. */
const interrupted = (): Promise<number> =>
  Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]).then(() => 0);

function introduction(
  url: string,
  { account }: Sandbox,
  { callbackUrl, keysFile }: StartOptions,
  file: string | undefined,
): string {
  const to = callbackUrl === undefined ? ' --to http://127.0.0.1:3000/payments/callbacks' : '';
  const kept =
    file === undefined
      ? 'Nothing is kept: the next start has new keys, unless --seed is given.'
      : `Keys and state are kept in ${file}.`;
  const written = keysFile === undefined ? '' : ` The keys are also in ${keysFile}.`;
  return `Payment service sandbox: ${url}

  public key   ${account.publicKey}
  secret key   ${account.secretKey}
  signing key  ${account.signingKey}

${kept}${written}
Start your program with NODE_ENV=development: it refuses these keys otherwise.

Open ${url} to see wallets, transactions and deliveries, and to start a payment. Or:

  curl -H 'public-key: ${account.publicKey}' '${url}/data/payment-providers?currency=UGX&transaction_type=COLLECTION'

  curl -H 'public-key: ${account.publicKey}' -H 'secret-key: ${account.secretKey}' \\
    -H 'content-type: application/json' '${url}/sandbox/collections' \\
    -d '{"merchant_reference":"ORD-1","amount":500,"currency":"UGX","provider_code":"example_mobile_money","account":"256772000001"}'

Try one misbehaviour, from another terminal: a forged amount, under a valid signature.

  npx payment-service-sandbox trigger${to} --misbehave forged_amount=5000000
`;
}
