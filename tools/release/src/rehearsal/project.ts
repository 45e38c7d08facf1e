import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type Command,
  finish,
  lastLines,
  pnpm,
  readManifest,
  run,
  start,
  until,
  userNodes,
} from '@payment-service/release/toolchains';
import type { Sandbox, SandboxOptions } from '@payment-service/sandbox';
import { freePort } from '../../../../vitest.shared.ts';
import { check, settingsOf } from './check.ts';
import { README_PACKAGES, runReadme } from './readme.ts';
import { npmSettings, type Registry, SCOPE, yarnSettings } from './registry.ts';
import type { Row } from './rows.ts';

/** The inputs of all rows. */
export interface Stage {
  readonly registry: Registry;
  /** The registry of third-party packages that the environment configures. */
  readonly thirdParty: string;
  /** A folder with a project for each row. */
  readonly folder: string;
  /** The program of Yarn. */
  readonly yarn: string;
  /** The sandbox that was installed from the registry. */
  readonly createSandbox: (options?: SandboxOptions) => Sandbox;
}

/** `problems`: what is wrong; empty if the row works as expected. `installed`: names and versions. */
export interface Rehearsed {
  readonly problems: readonly string[];
  readonly installed: readonly string[];
}

/** Not tsconfig.json, which would make Next.js and Jest treat the project as TypeScript. */
const TSCONFIG = 'tsconfig.rehearsal.json';
const MAX_STARTING_MS = 30_000;
const programs = join(import.meta.dirname, '../../programs');
const require = createRequire(import.meta.url);

/** Creates the project of a row, installs it from the registry and runs it. */
export async function rehearse(row: Row, stage: Stage): Promise<Rehearsed> {
  const cwd = join(stage.folder, row.name);
  const packages = row.program === undefined ? README_PACKAGES : [`${SCOPE}/core`];
  const latest = Object.fromEntries(packages.map((name) => [name, 'latest']));
  const dependencies = { ...latest, ...row.dependencies };
  let installed: readonly string[] = [];
  try {
    await writeProject(row, dependencies, stage, cwd);
    await install(row, stage, cwd);
    installed = installedVersions(cwd, Object.keys(dependencies));
    const commandOf = commandsOf(row, stage, cwd);
    const problems = await (row.program === undefined
      ? runReadme(cwd, commandOf)
      : runProgram(row, row.program, stage, cwd, commandOf));
    return { problems, installed };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)], installed };
  }
}

async function writeProject(row: Row, dependencies: object, stage: Stage, cwd: string): Promise<void> {
  const {
    name,
    type = 'module',
    installer,
    compiler = { noCheck: true, types: [] },
    program,
    files = {},
  } = row;
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
  write(TSCONFIG, { compilerOptions, files: [program] });
  writeFileSync(join(cwd, '.npmrc'), npmSettings(stage.registry));
  if (installer === 'yarn pnp') {
    writeFileSync(join(cwd, '.yarnrc.yml'), yarnSettings(stage.registry, stage.thirdParty));
    writeFileSync(join(cwd, 'yarn.lock'), '');
  }
  // Strict: a package finds only its declared dependencies.
  if (installer === 'pnpm')
    writeFileSync(join(cwd, 'pnpm-workspace.yaml'), 'hoist: false\nminimumReleaseAge: 0\n');
}

async function install({ installer }: Row, { yarn }: Stage, cwd: string): Promise<void> {
  if (installer === 'pnpm') await pnpm(cwd, 'install', '--no-frozen-lockfile', '--prefer-offline');
  else if (installer === 'yarn pnp')
    await run({ command: process.execPath, args: [yarn, 'install', '--no-immutable'], cwd });
  else await run({ command: 'npm', args: ['install', '--prefer-offline', '--no-package-lock'], cwd });
}

/**
 * The actual versions of a project's dependencies, such as `express 5.3.0`; without packages of this repository. A row that
 * says Express 4 and ran on 5 must be noticed.
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

async function runProgram(
  row: Row,
  program: string,
  stage: Stage,
  cwd: string,
  commandOf: CommandOf,
): Promise<readonly string[]> {
  // The compiler of the repository if the row has none.
  const own =
    row.dependencies['typescript'] === undefined ? require : createRequire(join(cwd, 'package.json'));
  const tsc = join(dirname(own.resolve('typescript/package.json')), 'bin/tsc');
  await run({ command: process.execPath, args: [tsc, '-p', TSCONFIG, '--pretty', 'false'], cwd });
  for (const line of row.prepare ?? []) await run(commandOf(line, {}));
  const sandbox = stage.createSandbox();
  const { url: sandboxUrl } = await sandbox.listen();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const line = row.start ?? `node out/${program.replace(/\.ts$/, '.js')}`;
  const running = start(commandOf(line, settingsOf(sandbox, sandboxUrl, port)));
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
  if (code !== exitCode && problems.length === 0)
    problems.push(`it ended with ${code}, not with ${exitCode}`);
  return problems.length === 0 ? [] : [...problems, lastLines(running.output())];
}

/** `node …` runs on the row's Node; `$PORT` and the like are replaced; anything else is a program of the dependencies. */
function commandsOf({ node: major = 24, installer }: Row, { yarn }: Stage, cwd: string): CommandOf {
  const node = userNodes().find(({ version }) => version.startsWith(`${major}.`))?.binary;
  if (node === undefined) throw new Error(`There is no Node ${major} on this platform.`);
  return (line, env) => {
    const [name = '', ...args] = line
      .split(' ')
      .map((text) => text.replace(/\$([A-Z_]+)/g, (_all, variable: string) => env[variable] ?? ''));
    if (installer === 'yarn pnp') return { command: node, args: [yarn, name, ...args], cwd, env };
    return { command: name === 'node' ? node : join(cwd, 'node_modules/.bin', name), args, cwd, env };
  };
}
