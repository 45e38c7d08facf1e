import { cp, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Sandbox, SandboxOptions } from '@payment-service/sandbox';
import { userNodes } from '@payment-service/toolchains';
import { check, settingsOf } from './check.ts';
import { installedVersions } from './installed.ts';
import { pnpm } from './publish.ts';
import { PRINTED, type ReadmeProgram, readmeProgram } from './readme.ts';
import { answering, freePort, npmSettings, type Registry, SCOPE, yarnSettings } from './registry.ts';
import type { Row } from './row.ts';
import { type Command, ended, lastLines, run, start, stop } from './run.ts';

/** What all rows share. */
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

/** Not tsconfig.json, which would make the project one of TypeScript to Next.js and Jest. */
const TSCONFIG = 'tsconfig.rehearsal.json';
const MAX_README_MS = 30_000;
const programs = join(import.meta.dirname, '..', 'programs');
const require = createRequire(import.meta.url);
const typescript = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');

/** `problems`: what is wrong; nothing where the row does what it must. `installed`: names and versions. */
export interface Rehearsed {
  readonly problems: readonly string[];
  readonly installed: readonly string[];
}

/** Makes the project of a row, installs it from the registry and runs it. */
export async function rehearse(row: Row, stage: Stage): Promise<Rehearsed> {
  const cwd = join(stage.folder, row.name);
  let installed: readonly string[] = [];
  try {
    const readme = row.readme === undefined ? undefined : await readmeProgram(row.readme);
    const dependencies =
      readme === undefined
        ? { [`${SCOPE}/core`]: 'latest', ...row.dependencies }
        : { ...Object.fromEntries(readme.packages.map((name) => [name, 'latest'])), ...row.dependencies };
    await writeProject(row, dependencies, stage, cwd);
    await install(row, stage, cwd);
    installed = await installedVersions(cwd, dependencies);
    const problems =
      readme === undefined ? await runProgram(row, stage, cwd) : await runReadme(row, readme, stage, cwd);
    return { problems, installed };
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)], installed };
  }
}

async function writeProject(
  row: Row,
  dependencies: Readonly<Record<string, string>>,
  { registry, thirdParty }: Stage,
  cwd: string,
): Promise<void> {
  await mkdir(cwd, { recursive: true });
  const files = [...row.files, ...(row.files.includes('merchant.ts') ? [] : ['merchant.ts'])];
  for (const file of files) {
    const target = join(cwd, file.replace(/^next\//, ''));
    await mkdir(dirname(target), { recursive: true });
    await cp(join(programs, file), target);
  }
  const manifest = {
    name: `rehearsal-${row.name}`,
    version: '1.0.0',
    private: true,
    type: row.type ?? 'module',
    dependencies,
  };
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    esModuleInterop: true,
    strict: true,
    skipLibCheck: true,
    outDir: 'out',
    rootDir: '.',
    types: ['node'],
    ...(row.compiler ?? { noCheck: true, types: [] }),
  };
  const sources = files.filter((file) => /\.ts$/.test(file));
  await writeFile(join(cwd, 'package.json'), JSON.stringify(manifest, null, 2));
  await writeFile(join(cwd, TSCONFIG), JSON.stringify({ compilerOptions, files: sources }, null, 2));
  await writeFile(join(cwd, '.npmrc'), npmSettings(registry));
  if (row.installer === 'yarn pnp') {
    await writeFile(join(cwd, '.yarnrc.yml'), yarnSettings(registry, thirdParty));
    await writeFile(join(cwd, 'yarn.lock'), '');
  }
  // Strict: a package finds what it declares, and nothing else.
  if (row.installer === 'pnpm')
    await writeFile(join(cwd, 'pnpm-workspace.yaml'), 'hoist: false\nminimumReleaseAge: 0\n');
}

async function install(row: Row, { yarn }: Stage, cwd: string): Promise<void> {
  if (row.installer === 'pnpm') await pnpm(cwd, 'install', '--no-frozen-lockfile', '--prefer-offline');
  else if (row.installer === 'yarn pnp')
    await run({ command: process.execPath, args: [yarn, 'install', '--no-immutable'], cwd });
  else await run({ command: 'npm', args: ['install', '--prefer-offline', '--no-package-lock'], cwd });
}

async function runProgram(row: Row, stage: Stage, cwd: string): Promise<readonly string[]> {
  const sandbox = stage.createSandbox();
  try {
    const port = await freePort();
    const { url: sandboxUrl } = await sandbox.listen();
    const env = settingsOf(sandbox, sandboxUrl, port);
    await compile(row, cwd);
    for (const command of row.prepare ?? []) await run(commandOf(row, stage, command, cwd, {}));
    const program = `out/${row.files[0]?.replace(/\.ts$/, '.js')}`;
    const running = start(commandOf(row, stage, row.start ?? ['node', program], cwd, env));
    const url = `http://127.0.0.1:${port}`;
    const problems: string[] = [];
    try {
      await answering(`${url}/ready`, () => {
        if (running.child.exitCode !== null) throw new Error(`It ended with ${running.child.exitCode}.`);
      });
      problems.push(...(await check(url, sandbox)));
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
    const code = row.endsAlone && problems.length === 0 ? await ended(running) : await stop(running);
    const { exitCode = 0 } = row;
    if (code !== exitCode && problems.length === 0)
      problems.push(`it ended with ${code}, not with ${exitCode}`);
    return problems.length === 0 ? [] : [...problems, lastLines(running.output())];
  } finally {
    await sandbox.close();
  }
}

/** What a reader of the document does, on a free port. */
async function runReadme(
  row: Row,
  { file, code, command }: ReadmeProgram,
  stage: Stage,
  cwd: string,
): Promise<readonly string[]> {
  await writeFile(join(cwd, file), code);
  const port = await freePort();
  const [name = '', ...args] = command.map((part) => part.replace(':3000/', `:${port}/`));
  const running = start(commandOf(row, stage, [name, '--port', '0', ...args], cwd, { PORT: String(port) }));
  const deadline = AbortSignal.timeout(MAX_README_MS);
  const missing = (): readonly string[] => PRINTED.filter((text) => !running.output().includes(text));
  while (missing().length > 0 && running.child.exitCode === null && !deadline.aborted)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const problems = missing().map((text) => `it does not print "${text}"`);
  await stop(running);
  return problems.length === 0 ? [] : [...problems, lastLines(running.output())];
}

async function compile(row: Row, cwd: string): Promise<void> {
  if (!row.files.some((file) => file.endsWith('.ts'))) return;
  const isOwn = row.dependencies['typescript'] === undefined;
  const tsc = isOwn ? typescript : join(cwd, 'node_modules', 'typescript', 'bin', 'tsc');
  await run({ command: process.execPath, args: [tsc, '-p', TSCONFIG, '--pretty', 'false'], cwd });
}

/** `node …` runs on the row's Node; `$PORT` and the like are replaced; anything else is a program of the dependencies. */
function commandOf(
  row: Row,
  stage: Stage,
  [name = '', ...rest]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Command {
  const args = rest.map((text) =>
    text.replace(/\$([A-Z_]+)/g, (_all, variable: string) => env[variable] ?? ''),
  );
  const node = nodeOf(row.node ?? 24);
  if (row.installer === 'yarn pnp') return { command: node, args: [stage.yarn, name, ...args], cwd, env };
  return name === 'node'
    ? { command: node, args, cwd, env }
    : { command: join(cwd, 'node_modules', '.bin', name), args, cwd, env };
}

function nodeOf(major: number): string {
  const found = userNodes().find(({ version }) => version.startsWith(`${major}.`));
  if (found === undefined) throw new Error(`There is no Node ${major} on this platform.`);
  return found.binary;
}
