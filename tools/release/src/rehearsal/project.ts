import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type Command,
  finish,
  lastLines,
  pnpm,
  readManifest,
  root,
  run,
  start,
  until,
  userNodes,
} from '@payment-service/release/toolchains';
import type { Sandbox, SandboxOptions } from '@payment-service/sandbox';
import { freePort } from '../../../../vitest.shared.ts';
import { npmSettings, type Registry, SCOPE, yarnSettings } from './registry.ts';
import type { Row } from './rows.ts';

/** What all rows need. */
export interface Stage {
  /** A folder with a project for each row. */
  readonly folder: string;
  /** The sandbox as it is published. */
  readonly createSandbox: (options?: SandboxOptions) => Sandbox;
  /** Undefined if the folder already contains the packed packages and their dependencies. */
  readonly source?: {
    readonly registry: Registry;
    /** The registry for third-party packages, as configured in the environment. */
    readonly thirdParty: string;
    /** The program of Yarn. */
    readonly yarn: string;
  };
}

/** `problems`: what is wrong; empty if the row works as expected. `installed`: names and versions. */
export interface Rehearsed {
  readonly problems: readonly string[];
  readonly installed: readonly string[];
}

/** The contract's vectors are literal: no code of this repository computed their digests. */
interface Vector {
  readonly name: string;
  readonly options: { readonly signing_key: string };
  readonly signature: string;
  readonly body_text: string;
}

/** What a program reports: its verified callbacks, the adapter's error on misconfiguration, and the client's providers. */
interface Report {
  readonly received: readonly string[];
  readonly error: { readonly name: string; readonly isOfCore: boolean };
  readonly providers: readonly string[];
}

/** Not tsconfig.json, which would make Next.js and Jest treat the project as TypeScript. */
const TSCONFIG = 'tsconfig.rehearsal.json';
const MAX_STARTING_MS = 30_000;
const programs = join(import.meta.dirname, '../../programs');
const require = createRequire(import.meta.url);
const PROVIDER = 'example_mobile_money';
const vectorsPath = require.resolve('@payment-service/openapi/signature-vectors.json');
const { vectors } = JSON.parse(readFileSync(vectorsPath, 'utf8')) as { vectors: readonly Vector[] };
/** A genuine callback with its digest written out. */
const literal = vectors.find(({ name }) => name === 'header: t then s');
const readmeText = readFileSync(join(root, 'README.md'), 'utf8');

/** The packages that README.md tells its reader to install. */
const README_PACKAGES: readonly string[] = part(/^npm install ((?:.*\\\n)*.+)$/m).split(/[\s\\]+/);
/** What the program and the command print when the first payment has arrived. */
const PRINTED = ['The callback was accepted.', ' is paid: 500'];

/** Creates the project of a row, installs it from the registry and runs it. */
export async function rehearse(row: Row, stage: Stage): Promise<Rehearsed> {
  const cwd = join(stage.folder, row.name);
  const packages = row.program === undefined ? README_PACKAGES : [`${SCOPE}/core`];
  const dependencies = Object.fromEntries(
    [...packages, ...row.dependencies].map((one) => {
      const [, name, range = 'latest'] = /^(.+?)(?:@(.+))?$/.exec(one) ?? [];
      return [name ?? '', range];
    }),
  );
  let installed: readonly string[] = [];
  try {
    await writeProject(row, dependencies, cwd);
    await install(row, stage, cwd);
    installed = installedVersions(cwd, Object.keys(dependencies));
    const commandOf = commandsOf(row, stage, cwd);
    if (row.program === undefined) return { problems: await runReadme(cwd, commandOf), installed };
    // The compiler of the repository if the row has none.
    const own = dependencies['typescript'] === undefined ? require : createRequire(join(cwd, 'package.json'));
    await compile(join(dirname(own.resolve('typescript/package.json')), 'bin/tsc'), cwd);
    for (const line of row.prepare ?? []) await run(commandOf(line, {}));
    return { problems: await serve(row, stage, cwd), installed };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)], installed };
  }
}

/** Writes the programs, package.json, and the compiler settings for some programs: by default, for the row's program. */
export async function writeProject(
  { name, type = 'module', compiler = { noCheck: true, types: [] }, program, files = {} }: Row,
  dependencies: object,
  cwd: string,
  compiled: readonly (string | undefined)[] = [program],
): Promise<void> {
  await cp(programs, cwd, { recursive: true });
  const write = (file: string, content: object): void =>
    writeFileSync(join(cwd, file), JSON.stringify(content, null, 2));
  write('package.json', { name: `rehearsal-${name}`, version: '1.0.0', private: true, type, dependencies });
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    esModuleInterop: true,
    strict: true,
    skipLibCheck: true,
    outDir: 'out',
    rootDir: '.',
    types: ['node'],
    ...compiler,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(cwd, path), text);
  write(TSCONFIG, { compilerOptions, files: compiled });
}

/** @throws {Error} with what the compiler finds. */
export async function compile(tsc: string, cwd: string): Promise<void> {
  await run({ command: process.execPath, args: [tsc, '-p', TSCONFIG, '--pretty', 'false'], cwd });
}

async function install({ installer }: Row, { source }: Stage, cwd: string): Promise<void> {
  if (source === undefined) return;
  const { registry, thirdParty, yarn } = source;
  writeFileSync(join(cwd, '.npmrc'), npmSettings(registry));
  if (installer === 'pnpm') {
    // Strict: a package finds only its declared dependencies.
    writeFileSync(join(cwd, 'pnpm-workspace.yaml'), 'hoist: false\nminimumReleaseAge: 0\n');
    await pnpm(cwd, 'install', '--no-frozen-lockfile', '--prefer-offline');
  } else if (installer === 'yarn pnp') {
    writeFileSync(join(cwd, '.yarnrc.yml'), yarnSettings(registry, thirdParty));
    writeFileSync(join(cwd, 'yarn.lock'), '');
    await run({ command: process.execPath, args: [yarn, 'install', '--no-immutable'], cwd });
  } else await run({ command: 'npm', args: ['install', '--prefer-offline', '--no-package-lock'], cwd });
}

/**
 * The actual versions of a project's dependencies, such as `express 5.3.0`, without packages of this repository. If a row for
 * Express 4 ran on 5, this must show it.
 */
function installedVersions(cwd: string, dependencies: readonly string[]): readonly string[] {
  const lock = join(cwd, 'yarn.lock');
  const locked = existsSync(lock) ? readFileSync(lock, 'utf8') : '';
  return dependencies
    .filter((name) => !name.startsWith(SCOPE))
    .map((name) => {
      const manifest = join(cwd, 'node_modules', name, 'package.json');
      const version = existsSync(manifest)
        ? readManifest<{ version: string }>(manifest).version
        : locked.split(`"${name}@npm:`)[1]?.match(/^ {2}version: (\S+)/m)?.[1];
      return `${name} ${version ?? 'not found'}`;
    });
}

type CommandOf = (line: string, env: Readonly<Record<string, string>>) => Command;

/** Starts the compiled program of a row and checks it. */
export async function serve(row: Row, stage: Stage, cwd: string): Promise<readonly string[]> {
  const sandbox = stage.createSandbox();
  const { url: sandboxUrl } = await sandbox.listen();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const line = row.start ?? `node out/${row.program?.replace(/\.ts$/, '.js')}`;
  const settings = settingsOf(sandbox, sandboxUrl, port);
  const running = start(commandsOf(row, stage, cwd)(line, settings));
  const problems: string[] = [];
  try {
    const answers = (): Promise<boolean> =>
      fetch(`${url}/ready`).then(
        () => true,
        () => false,
      );
    await until(running, answers, `${url} does not answer`, MAX_STARTING_MS);
    problems.push(...(await check(url, sandbox)));
  } catch (error) {
    problems.push(String(error));
  }
  const { exitCode = 0, endsAlone = false } = row;
  const code = await finish(running, endsAlone && problems.length === 0);
  await sandbox.close();
  // Windows has no SIGTERM: programs there end without notice.
  if (code !== exitCode && problems.length === 0 && process.platform !== 'win32')
    problems.push(`it ended with ${code}, not with ${exitCode}`);
  return problems.length === 0 ? [] : [...problems, lastLines(running.output())];
}

/** `node …` runs on the row's Node, and any other program comes from the dependencies; `$PORT` and similar are replaced. */
function commandsOf({ node: major, installer }: Row, { source }: Stage, cwd: string): CommandOf {
  const found = userNodes().find(({ version }) => version.startsWith(`${major}.`))?.binary;
  const node = major === undefined ? process.execPath : found;
  if (node === undefined) throw new Error(`There is no Node ${major} on this platform.`);
  return (line, env) => {
    const [name = '', ...args] = line
      .split(' ')
      .map((text) => text.replace(/\$([A-Z_]+)/g, (_all, variable: string) => env[variable] ?? ''));
    if (installer === 'yarn pnp')
      return { command: node, args: [source?.yarn ?? '', name, ...args], cwd, env };
    return { command: name === 'node' ? node : join(cwd, 'node_modules/.bin', name), args, cwd, env };
  };
}

/**
 * Saves the program of README.md and runs its command on a free port.
 *
 * @param commandOf Makes a command of the project from its line.
 * @returns The problems and the end of the output.
 */
async function runReadme(cwd: string, commandOf: CommandOf): Promise<readonly string[]> {
  writeFileSync(join(cwd, part(/^Save this as `(.+)`:$/m)), part(/^```ts program\n([\s\S]+?)^```$/m));
  const port = await freePort();
  const command = part(/^npx (payment-service-sandbox (?:.*\\\n)*.+)$/m).replaceAll(/\\\n */g, '');
  const line = command.replace(':3000/', `:${port}/`);
  const running = start(commandOf(line.replace(' ', ' --port 0 '), { PORT: String(port) }));
  const missing = (): readonly string[] => PRINTED.filter((one) => !running.output().includes(one));
  const listens = (): boolean => running.output().includes('Start a payment with it');
  await until(running, listens, 'it does not listen', MAX_STARTING_MS)
    .then(() => fetch(`http://127.0.0.1:${port}/orders`, { method: 'POST' }))
    .catch(() => undefined);
  await until(running, () => missing().length === 0, 'it prints too little', MAX_STARTING_MS).catch(
    () => undefined,
  );
  const problems = missing().map((one) => `it does not print "${one}"`);
  await finish(running);
  return problems.length === 0 ? [] : [...problems, lastLines(running.output())];
}

function part(pattern: RegExp): string {
  const found = pattern.exec(readmeText)?.[1];
  if (found === undefined) throw new Error(`README.md has no ${pattern.source}`);
  return found;
}

/** The settings of a rehearsal program, as environment variables. */
function settingsOf(sandbox: Sandbox, sandboxUrl: string, port: number): Record<string, string> {
  const { publicKey, signingKey } = sandbox.account;
  return {
    HOSTNAME: '127.0.0.1', // For the standalone server of Next.js, which otherwise listens on every address.
    LITERAL_KEY: literal?.options.signing_key ?? '',
    PORT: String(port),
    PUBLIC_KEY: publicKey,
    SERVICE_URL: sandboxUrl,
    SIGNING_KEY: signingKey,
  };
}

/**
 * The problems of a merchant's program at `url`: it must accept a literal genuine callback, refuse a forged and an unsigned one,
 * and receive a delivery of the sandbox, and its client must reach the sandbox.
 */
async function check(url: string, sandbox: Sandbox): Promise<readonly string[]> {
  const problems: string[] = [];
  const expectEqual = (what: string, actual: unknown, expected: unknown): void => {
    if (!isDeepStrictEqual(actual, expected))
      problems.push(`${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  };
  const callback_url = `${url}/callbacks`;
  const post = async (body: string, signature: Record<string, string>): Promise<string> => {
    const headers = { 'content-type': 'application/json', ...signature };
    const response = await fetch(callback_url, { method: 'POST', headers, body });
    return `${response.status} ${await response.text()}`;
  };
  const { body_text: body = '', signature = '' } = literal ?? {};
  const signed = { 'hmac-signature': signature };
  const forged = body.replace('ORD-1001', 'ORD-1002');
  expectEqual('genuine', await post(body, signed), '200 {"status":"accepted"}');
  expectEqual('forged', await post(forged, signed), '401 {"error":"unauthorized"}');
  expectEqual('unsigned', await post(body, {}), '401 {"error":"unauthorized"}');

  const payment = { amount: 5000, currency: 'UGX', provider_code: PROVIDER, account: '256772000001' };
  sandbox.collect({ ...payment, merchant_reference: 'ORD-2001', callback_url });
  await sandbox.idle();

  const response = await fetch(`${url}/report`);
  const text = await response.text();
  if (response.status !== 200) return [...problems, `the client: ${response.status} ${text}`];
  const report = JSON.parse(text) as Report;
  // The literal callback has no request_amount, so its amount cannot be confirmed.
  expectEqual('received', report.received, ['ORD-1001 verified', 'ORD-2001 paid']);
  expectEqual(`the client lists ${PROVIDER}`, report.providers.includes(PROVIDER), true);
  expectEqual('the name of an error', report.error.name, 'ConfigurationError');
  expectEqual('the error is that of core', report.error.isOfCore, true);
  return problems;
}
