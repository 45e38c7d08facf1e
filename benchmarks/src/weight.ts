/** What an app loads, bundles and installs: core's entries and the adapters, beside peers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { interleave, quantile, ratio, type Spread, spread } from '@payment-service/measure';
import { build } from 'esbuild';
import { PACKAGES, PEERS } from './installed.ts';
import { judge, type Result } from './judge.ts';
import type { Part, Run } from './part.ts';
import { figure, withRange } from './print-tables.ts';

/** What is imported or bundled: the name that the import must give is the control that it was loaded. */
interface Entry {
  readonly name: string;
  readonly specifier: string;
  readonly exported: string;
}

const ADAPTERS: readonly Entry[] = PACKAGES.filter((name) => name !== 'core').map((name) => ({
  name,
  specifier: `@payment-service/${name}`,
  exported: 'paymentCallbacks',
}));
const VERIFIER: Entry = { name: 'core', specifier: '@payment-service/core', exported: 'createVerifier' };
const RECEIVE: Entry = {
  name: 'core/receive',
  specifier: '@payment-service/core/receive',
  exported: 'receiveCallback',
};
const CLIENT: Entry = {
  name: 'core/client',
  specifier: '@payment-service/core/client',
  exported: 'createClient',
};
const PEER_EXPORTS: Readonly<Record<(typeof PEERS)[number], string>> = {
  stripe: 'default',
  svix: 'Webhook',
  standardwebhooks: 'Webhook',
  '@octokit/webhooks-methods': 'verify',
};
const PEER_ENTRIES: readonly Entry[] = PEERS.map((name) => ({
  name,
  specifier: name,
  exported: PEER_EXPORTS[name],
}));
const ENTRIES: readonly Entry[] = [VERIFIER, RECEIVE, CLIENT, ...ADAPTERS, ...PEER_ENTRIES];

/** An adapter's import over standardwebhooks' import, each without Node's own start. */
const IMPORT_OVER_STANDARD_WEBHOOKS = 2.5;
const KIB = 1024;
const VERIFIER_BYTES = 16 * KIB;
const VERIFIER_GZIPPED_BYTES = 6.5 * KIB;
const CLIENT_BYTES = 120 * KIB;

/** `starts`: of each entry within a round, whose median is the round's sample. */
const FULL = { rounds: 9, starts: 7 };
const SHORT = { rounds: 1, starts: 1 };

export async function weight({ project, isShort, rounds, random }: Run): Promise<Part> {
  const pace = { ...(isShort ? SHORT : FULL), ...(rounds && { rounds }), random };
  const parts = [await imports(project, pace), await bundles(project), await installs(project)];
  return { tables: parts.flatMap(({ tables }) => tables), results: parts.flatMap(({ results }) => results) };
}

interface Start {
  /** On the clock, to the end of the process. */
  readonly ms: number;
  /** Processor time up to the end of the program, which a busy neighbour does not change. */
  readonly cpuMs: number;
}

/** What a program pays before its first line runs, without what Node itself takes. */
async function imports(
  project: string,
  { rounds, starts, random }: typeof FULL & Pick<Run, 'random'>,
): Promise<Part> {
  await expectRefusal(project);
  const nothing = undefined;
  const samples = new Map<string, Start[]>(ENTRIES.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    const times = await interleave([nothing, ...ENTRIES], starts, random, (entry) => start(project, entry));
    const own = (entry: Entry | undefined, key: keyof Start): number =>
      quantile(
        (times.get(entry) ?? []).map((time) => time[key]),
        0.5,
      );
    const more = (entry: Entry, key: keyof Start): number => own(entry, key) - own(nothing, key);
    for (const entry of ENTRIES)
      samples.get(entry.name)?.push({ ms: more(entry, 'ms'), cpuMs: more(entry, 'cpuMs') });
  }
  const own = (name: string, key: keyof Start): readonly number[] =>
    (samples.get(name) ?? []).map((sample) => sample[key]);
  const overPeer = (name: string): Spread => ratio(own(name, 'cpuMs'), own('standardwebhooks', 'cpuMs'));
  return {
    tables: [
      {
        title: 'Cold import, without the start of Node',
        head: ['', 'ms of processor time', 'times standardwebhooks', 'ms on the clock'],
        rows: ENTRIES.map(({ name }) => [
          name,
          withRange(spread(own(name, 'cpuMs'))),
          withRange(overPeer(name)),
          figure(spread(own(name, 'ms')).median),
        ]),
      },
    ],
    results: ADAPTERS.map(({ name }) =>
      judge(`weight: import of ${name} over standardwebhooks`, 'ratio', overPeer(name), {
        atMost: IMPORT_OVER_STANDARD_WEBHOOKS,
      }),
    ),
  };
}

/** @throws {Error} when the module does not load, or does not export what it is imported for. */
async function start(project: string, entry: Entry | undefined): Promise<Start> {
  const load =
    entry === undefined
      ? ''
      : `import * as loaded from '${entry.specifier}'; if (!('${entry.exported}' in loaded)) process.exit(1);`;
  const tell = `import { writeSync } from 'node:fs'; writeSync(1, JSON.stringify(process.cpuUsage()));`;
  const started = performance.now();
  const child = spawn(process.execPath, ['--input-type=module', '--eval', load + tell], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [output, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const ms = performance.now() - started;
  if (status !== 0) throw new Error(`${entry?.specifier} did not load, or has no ${entry?.exported}.`);
  const { user, system }: NodeJS.CpuUsage = JSON.parse(output);
  return { ms, cpuMs: (user + system) / 1000 };
}

/** The control: a missing export, and a framework that no adapter may import, both fail. */
async function expectRefusal(project: string): Promise<void> {
  for (const entry of [
    { ...VERIFIER, exported: 'absent' },
    { name: '', specifier: 'express', exported: 'default' },
  ])
    await start(project, entry).then(
      () => {
        throw new Error(`Importing ${entry.exported} of ${entry.specifier} was to fail, and did not.`);
      },
      () => undefined,
    );
}

/** What a bundler puts into a program that uses one export of an entry. */
async function bundles(project: string): Promise<Part> {
  const rows: string[][] = [];
  const results: Result[] = [];
  for (const entry of ENTRIES) {
    const { bytes, gzipped, hasZod } = await bundle(project, entry, 'node');
    const portable = await bundle(project, entry, 'browser').catch(() => undefined); // Some peers need Node.
    rows.push([
      entry.name,
      figure(bytes),
      figure(gzipped),
      portable === undefined ? '' : figure(portable.bytes),
      portable === undefined ? '' : figure(portable.gzipped),
      hasZod ? 'with zod' : '',
    ]);
    if (entry === CLIENT) {
      results.push(judgeSize('client, minified', bytes, CLIENT_BYTES));
      // The control of the next line: zod is found where it is.
      if (!hasZod)
        throw new Error('The bundle of the client holds no zod: the check would see none anywhere.');
    } else if (hasZod) throw new Error(`The bundle of ${entry.name} holds zod.`);
    if (entry === VERIFIER) {
      results.push(judgeSize('verifier, minified', bytes, VERIFIER_BYTES));
      results.push(judgeSize('verifier, gzipped', gzipped, VERIFIER_GZIPPED_BYTES));
    }
  }
  const head = ['', 'Node, minified', 'gzipped', 'browser, minified', 'gzipped', ''];
  return { tables: [{ title: 'Bundles of one export, bytes', head, rows }], results };
}

interface Bundle {
  readonly bytes: number;
  readonly gzipped: number;
  readonly hasZod: boolean;
}

/** The name that zod gives to the base of its types, which no minifier changes: core's client contains a copy of zod. */
const ZOD = /\$ZodType/;

async function bundle(project: string, entry: Entry, platform: 'node' | 'browser'): Promise<Bundle> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${entry.exported} } from '${entry.specifier}';`, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform,
    write: false,
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  if (file === undefined || !file.text.includes(entry.exported))
    throw new Error(`The bundle of ${entry.name} does not export ${entry.exported}.`);
  const gzipped = await promisify(gzip)(file.contents, { level: 9 });
  return { bytes: file.contents.length, gzipped: gzipped.length, hasZod: ZOD.test(file.text) };
}

function judgeSize(what: string, bytes: number, atMost: number): Result {
  return judge(`weight: ${what}`, 'bytes', { median: bytes, p10: bytes, p90: bytes }, { atMost });
}

/** On disk, with every dependency; a framework is a peer, which the app has anyway. */
async function installs(project: string): Promise<Part> {
  const names = [VERIFIER, ...ADAPTERS, ...PEER_ENTRIES].map(({ specifier }) => specifier);
  const rows = await Promise.all(
    names.map(async (name) => {
      const homes = new Set<string>();
      await addPackage(join(project, 'package.json'), name, homes);
      const sizes = await Promise.all([...homes].map(folderBytes));
      return [name, figure(homes.size), figure(sizes.reduce((sum, size) => sum + size, 0) / KIB)];
    }),
  );
  return {
    tables: [{ title: 'Installed, with dependencies', head: ['', 'packages', 'KiB'], rows }],
    results: [],
  };
}

/** Adds the folder of a package and those of all that it depends on. */
async function addPackage(from: string, name: string, homes: Set<string>): Promise<void> {
  const home = await homeFrom(from, name);
  if (homes.has(home)) return;
  homes.add(home);
  const manifest: { dependencies?: Record<string, string> } = JSON.parse(
    await readFile(join(home, 'package.json'), 'utf8'),
  );
  for (const dependency of Object.keys(manifest.dependencies ?? {}))
    await addPackage(join(home, 'package.json'), dependency, homes);
}

/** Not by resolving the package itself, since its `exports` may hide package.json. */
async function homeFrom(manifest: string, name: string): Promise<string> {
  for (const folder of createRequire(manifest).resolve.paths(name) ?? []) {
    const home = join(folder, name);
    const found = await stat(join(home, 'package.json')).catch(() => undefined);
    if (found !== undefined) return realpath(home);
  }
  throw new Error(`${manifest} depends on ${name}, which is not installed.`);
}

async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) =>
      entry.isFile() && !join(entry.parentPath, entry.name).slice(folder.length).includes('/node_modules/'),
  );
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
