/** The Node versions and compilers that users have, and functions that pack, install and start programs. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { unpack } from '@publint/pack';

/** A program, its arguments and its folder. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether `env` is the whole environment, so that the program does not depend on this computer. */
  readonly isAlone?: boolean;
}

/** A running program. */
export interface Running {
  readonly child: ChildProcess;
  /** Its exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
  readonly stdout: () => string;
  /** Its output on both streams so far. */
  readonly output: () => string;
}

const require = createRequire(import.meta.url);
const MAX_RUN_MS = 300_000;
const MAX_ENDING_MS = 10_000;
const SHOWN_LINES = 25;
const SCRIPT = /^(npm_|NODE_ENV$|NODE_OPTIONS$|NODE_PATH$|TURBO_|VITEST|INIT_CWD$)/i;
const KEPT = /^npm_(execpath|config_(registry|userconfig|globalconfig|cafile|proxy|https_proxy|noproxy))$/i;

/**
 * The environment without the variables that one package manager sets for its scripts and another would read, except those for
 * the registry.
 */
function environment({ env, isAlone }: Command): NodeJS.ProcessEnv {
  // Programs share Node's compile cache for the packages, which changes nothing else.
  if (isAlone) return { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env };
  const kept = Object.entries(process.env).filter(([name]) => !SCRIPT.test(name) || KEPT.test(name));
  return { ...Object.fromEntries(kept), CI: '1', NEXT_TELEMETRY_DISABLED: '1', ...env };
}

/** Starts a program without a shell. It is killed after five minutes. */
export function start(program: Command): Running {
  const { command, args, cwd } = program;
  const child = spawn(command, args, {
    cwd,
    env: environment(program),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MAX_RUN_MS,
    killSignal: 'SIGKILL',
  });
  let [stdout, output] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.on('error', ({ message }) => (output += message));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, stdout: () => stdout, output: () => output };
}

/**
 * Polls until a running program has reached the state that the caller waits for.
 *
 * @param otherwise What is wrong if it does not.
 * @throws {Error} with its output, if it ends before that or takes longer than `ms`.
 */
export async function until(
  { child, output }: Running,
  isReached: () => boolean | Promise<boolean>,
  otherwise: string,
  ms: number,
): Promise<void> {
  const deadline = AbortSignal.timeout(ms);
  while (!(await isReached())) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode} and printed: ${output()}`);
    if (deadline.aborted) throw new Error(`${otherwise}; it printed: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Runs a program to its end, whatever its exit code. `output` is what it wrote to both streams. */
export async function execute(command: Command): Promise<{ code: number | null; output: string }> {
  const { ended, output } = start(command);
  return { code: await ended, output: output() };
}

/**
 * Runs a program to its end.
 *
 * @returns What it wrote to stdout.
 * @throws {Error} with the end of its output if it exits with anything but 0.
 */
export async function run(command: Command): Promise<string> {
  const { ended, stdout, output } = start(command);
  const code = await ended;
  if (code === 0) return stdout();
  const line = [command.command.split('/').at(-1), ...command.args].join(' ');
  throw new Error(`${line} ended with ${code}:\n${lastLines(output())}`);
}

/** Waits for a program that ends alone, or asks it to end. Kills it after ten seconds. */
export async function finish({ child, ended }: Running, endsAlone = false): Promise<number | null> {
  if (!endsAlone) child.kill();
  const late = setTimeout(() => child.kill('SIGKILL'), MAX_ENDING_MS);
  const code = await ended;
  clearTimeout(late);
  return code;
}

export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-SHOWN_LINES).join('\n');
}

/** Calls `act` for each item, several at a time. */
export function sideBySide<T, R>(
  items: readonly T[],
  atATime: number,
  act: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  return Readable.from(items).map(act, { concurrency: atATime }).toArray();
}

/** The root of this repository. */
export const root: string = join(import.meta.dirname, '../../..');

/** A published package of this repository, or of a copy of it. `folder` is absolute. */
export interface Published {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  readonly publishConfig?: { readonly exports?: Readonly<Record<string, unknown>> };
}

/** The published packages, by name. */
export function publishedPackages(repository: string = root): readonly Published[] {
  return globSync('packages/*/package.json', { cwd: repository })
    .sort()
    .map((path) => {
      const manifest = readManifest<Published & { private?: boolean }>(join(repository, path));
      return { ...manifest, folder: join(repository, dirname(path)) };
    })
    .filter((one) => one.private !== true);
}

export function readManifest<Manifest>(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}

/**
 * Runs the pnpm that started this process.
 *
 * @returns What it wrote to stdout.
 * @throws {Error} with its output if it fails, or if no pnpm started this process.
 */
export async function pnpm(cwd: string, ...args: readonly string[]): Promise<string> {
  if (!process.env['npm_execpath']?.includes('pnpm'))
    throw new Error('Start this through pnpm, such as `pnpm rehearse`.');
  return run({
    command: process.execPath,
    args: [join(import.meta.dirname, '../pnpm.mjs'), ...args],
    cwd,
  });
}

/** The parts of a packed package.json that matter here. */
export interface PackedManifest {
  readonly name: string;
  readonly version: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface PackedFile {
  /** The path inside the package, such as `dist/index.js`. */
  readonly name: string;
  readonly data: Uint8Array;
}

/** One tarball as a registry would receive it, with its contents. */
export interface PackedPackage {
  readonly manifest: PackedManifest;
  readonly files: readonly PackedFile[];
  /** The size of the tarball. */
  readonly bytes: number;
}

/**
 * Packs a built package with `pnpm pack`, which applies `publishConfig`; `npm pack` does not.
 *
 * @throws {Error} if the package is not built.
 */
export async function packPackage(folder: string, destination: string): Promise<PackedPackage> {
  // Scripts such as `prepack` may print before the result.
  const output = await pnpm(folder, 'pack', '--json', '--pack-destination', destination);
  const { filename }: { filename: string } = JSON.parse(output.slice(output.indexOf('{\n')));
  return readTarball(filename);
}

/** Packs every published package into a folder. */
export async function packPublished(destination: string): Promise<void> {
  // Turbo has already built the packages. Without turbo they are built here, so that no test runs an old build.
  if (process.env['TURBO_HASH'] === undefined)
    await pnpm(root, '--filter', '@payment-service/release^...', 'build');
  await Promise.all(publishedPackages().map(({ folder }) => packPackage(folder, destination)));
}

/** Unpacks the tarballs of a folder in memory. */
export function readTarballs(folder: string): Promise<readonly PackedPackage[]> {
  const paths = globSync('*.tgz', { cwd: folder }).sort();
  return Promise.all(paths.map((path) => readTarball(join(folder, path))));
}

async function readTarball(path: string): Promise<PackedPackage> {
  const tarball = await readFile(path);
  const { files: packed, rootDir } = await unpack(new Uint8Array(tarball).buffer);
  const files = packed.map(({ name, data }) => ({ name: name.slice(rootDir.length + 1), data }));
  const manifest = files.find(({ name }) => name === 'package.json');
  if (manifest === undefined) throw new Error(`${path} contains no package.json`);
  return { manifest: JSON.parse(textOf(manifest)), files, bytes: tarball.length };
}

export function textOf({ data }: PackedFile): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(data);
}

/** The same package with a different package.json. */
export function withManifest(packed: PackedPackage, edit: (text: string) => string): PackedPackage {
  const files = packed.files.map((file) =>
    file.name === 'package.json' ? { ...file, data: new TextEncoder().encode(edit(textOf(file))) } : file,
  );
  return { ...packed, files };
}

/** A third-party package of this workspace: its name and a folder that depends on it. */
export type Installed = readonly [name: string, by: string];

/**
 * Lays out the packages as a package manager would: their files from the tarballs, and their dependencies only next to their own
 * code, so that an undeclared dependency is not found. Third-party packages are links to the versions in this workspace.
 *
 * @param project The folder of the program that uses the packages.
 * @param direct The other dependencies of that program.
 */
export async function installPacked(
  packages: readonly PackedPackage[],
  project: string,
  direct: readonly Installed[],
): Promise<void> {
  const sources = new Map(publishedPackages().map(({ name, folder }) => [name, folder]));
  for (const { manifest, files } of packages) {
    const home = join(project, 'node_modules', manifest.name);
    for (const { name, data } of files) {
      await mkdir(dirname(join(home, name)), { recursive: true });
      await writeFile(join(home, name), data);
    }
    const others = Object.keys(manifest.dependencies ?? {}).filter((name) => !sources.has(name));
    for (const name of others) await link([name, sources.get(manifest.name) ?? ''], home);
  }
  for (const installed of direct) await link(installed, project);
}

async function link([name, by]: Installed, into: string): Promise<void> {
  const path = join(into, 'node_modules', name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(await realpath(join(by, 'node_modules', name)), path, 'junction');
}

/** A Node that a user may have. `version` is its own output, such as `20.19.6`. */
export interface UserNode {
  readonly version: string;
  readonly binary: string;
}

/**
 * The Node versions that the packages support, oldest first, or only those that one package supports. They are Linux programs for
 * x64; on every other platform, the running Node is the only one, whatever was installed.
 */
export function userNodes({ name, engines }: Partial<PackedManifest> = {}): readonly UserNode[] {
  const isTheirPlatform = process.platform === 'linux' && process.arch === 'x64';
  const modules = join(import.meta.dirname, '../node_modules');
  const binaries = ['node20', 'node22', 'node24', 'node26'].map((node) => join(modules, node, 'bin/node'));
  const installed = binaries.filter((binary) => isTheirPlatform && existsSync(binary));
  const nodes = (installed.length === 0 ? [process.execPath] : installed).map((binary) => ({
    version: execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim().slice(1),
    binary,
  }));
  if (name === undefined) return nodes;
  const [, least] = /^>=(\d+\.\d+)$/.exec(engines?.['node'] ?? '') ?? [];
  if (least === undefined) throw new Error(`${name}: engines.node is not of the form >=major.minor`);
  return nodes.filter(({ version }) => version.localeCompare(least, 'en', { numeric: true }) >= 0);
}

/** The path of `tsc` in TypeScript 5, with which most users still compile. */
export function typescript5(): string {
  return join(dirname(require.resolve('typescript5/package.json')), 'bin/tsc');
}
