/** What an app loads, bundles and installs: core's entries and the adapters, beside peers. */
import { rejects } from 'node:assert/strict';
import {
  difference,
  figure,
  judge,
  type Result,
  ratio,
  type Spread,
  spread,
  withRange,
} from '@payment-service/laboratory';
import { bundle, type Cost, type Entry, importCosts, installed, start } from './footprint.ts';
import { PACKAGES, PEERS } from './installed.ts';
import type { Part, Run } from './part.ts';

const entryOf = (name: string, exported: string): Entry => ({
  name,
  specifier: `@payment-service/${name}`,
  exported,
});
export const ADAPTERS: readonly Entry[] = PACKAGES.filter((name) => name !== 'core').map((name) =>
  entryOf(name, 'paymentCallbacks'),
);
export const VERIFIER: Entry = entryOf('core', 'createVerifier');
const RECEIVE = entryOf('core/receive', 'receiveCallback');
export const CLIENT: Entry = entryOf('core/client', 'createClient');
export const PEER_ENTRIES: readonly Entry[] = Object.entries(PEERS).map(([name, exported]) => ({
  name,
  specifier: name,
  exported,
}));
const ENTRIES: readonly Entry[] = [VERIFIER, RECEIVE, CLIENT, ...ADAPTERS, ...PEER_ENTRIES];
/** Part of every import that hashes with it, and none of ours to make smaller. */
const NODE_CRYPTO: Entry = { name: 'node:crypto', specifier: 'node:crypto', exported: 'timingSafeEqual' };
const IMPORTED: readonly Entry[] = [...ENTRIES, NODE_CRYPTO];

/** An adapter's import over standardwebhooks' import, each without Node's own start. */
const IMPORT_OVER_STANDARD_WEBHOOKS = 2.5;
/** Milliseconds of processor time of an adapter's import, less that of an import of node:crypto alone. */
const IMPORT_WITHOUT_CRYPTO_MS = 5;
const HEAD = ['ms of processor time', 'without node:crypto', 'times standardwebhooks', 'ms on the clock'];
const KIB = 1024;
const VERIFIER_BYTES = 16 * KIB;
const VERIFIER_GZIPPED_BYTES = 6.75 * KIB;
const CLIENT_BYTES = 76 * KIB;

/** `starts`: of each entry within a round, whose median is the round's sample. */
const FULL = { rounds: 9, starts: 7 };
const SHORT = { rounds: 1, starts: 1 };

export async function weight({ project, isShort, rounds, random }: Run): Promise<Part> {
  const pace = { ...(isShort ? SHORT : FULL), ...(rounds && { rounds }), random };
  const parts = [await imports(project, pace), await bundles(project), await installs(project)];
  return { tables: parts.flatMap(({ tables }) => tables), results: parts.flatMap(({ results }) => results) };
}

/** What a program pays before its first line runs, without what Node itself takes. */
async function imports(
  project: string,
  { rounds, starts, random }: typeof FULL & Pick<Run, 'random'>,
): Promise<Part> {
  await expectRefusal(project);
  await expectNodeCrypto(project);
  const costs: ReadonlyMap<string, Cost>[] = [];
  while (costs.length < rounds) costs.push(await importCosts(project, IMPORTED, starts, random));
  const own = (name: string, key: keyof Cost): readonly number[] =>
    costs.map((round) => round.get(name)?.[key] ?? Number.NaN);
  const overPeer = (name: string): Spread => ratio(own(name, 'cpuMs'), own('standardwebhooks', 'cpuMs'));
  const withoutCrypto = (name: string): Spread =>
    difference(own(name, 'cpuMs'), own(NODE_CRYPTO.name, 'cpuMs'));
  return {
    tables: [
      {
        title: 'Cold import, without the start of Node',
        head: ['', ...HEAD],
        rows: IMPORTED.map(({ name }) => [
          name,
          withRange(spread(own(name, 'cpuMs'))),
          ADAPTERS.some((adapter) => adapter.name === name) ? withRange(withoutCrypto(name)) : '',
          withRange(overPeer(name)),
          figure(spread(own(name, 'ms')).median),
        ]),
      },
    ],
    results: ADAPTERS.flatMap(({ name }) => {
      const it = `weight: import of ${name}`;
      return [
        judge(
          `${it} over standardwebhooks`,
          'ratio',
          overPeer(name),
          'at most',
          IMPORT_OVER_STANDARD_WEBHOOKS,
        ),
        judge(`${it} without node:crypto`, 'ms', withoutCrypto(name), 'at most', IMPORT_WITHOUT_CRYPTO_MS),
      ];
    }),
  };
}

/** The control: a missing export, and a framework that no adapter may import, both fail. */
async function expectRefusal(project: string): Promise<void> {
  const express = { name: '', specifier: 'express', exported: 'default' };
  for (const entry of [{ ...VERIFIER, exported: 'absent' }, express])
    await rejects(start(project, entry), `Importing ${entry.exported} of ${entry.specifier} was to fail.`);
}

/** The control of what is subtracted: an adapter's import has loaded node:crypto, and the start of Node has not. */
async function expectNodeCrypto(project: string): Promise<void> {
  for (const entry of [undefined, NODE_CRYPTO, ...ADAPTERS]) {
    const { hasNodeCrypto } = await start(project, entry);
    const shouldHave = entry !== undefined;
    if (hasNodeCrypto !== shouldHave)
      throw new Error(`${entry?.name ?? 'Nothing'} ${shouldHave ? 'did not load' : 'loaded'} node:crypto.`);
  }
}

/** What a bundler puts into a program that uses one export of an entry. */
async function bundles(project: string): Promise<Part> {
  const rows: string[][] = [];
  const results: Result[] = [];
  for (const entry of ENTRIES) {
    const { bytes, gzipped, hasZod } = await bundle(project, entry, 'node');
    const portable = await bundle(project, entry, 'browser').catch(() => undefined); // Some peers need Node.
    const inBrowser = portable === undefined ? ['', ''] : [portable.bytes, portable.gzipped].map(figure);
    rows.push([entry.name, figure(bytes), figure(gzipped), ...inBrowser, hasZod ? 'with zod' : '']);
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

function judgeSize(what: string, bytes: number, atMost: number): Result {
  return judge(`weight: ${what}`, 'bytes', bytes, 'at most', atMost);
}

/** On disk, with every dependency; a framework is a peer, which the app has anyway. */
async function installs(project: string): Promise<Part> {
  const names = [VERIFIER, ...ADAPTERS, ...PEER_ENTRIES].map(({ specifier }) => specifier);
  const rows = await Promise.all(
    names.map(async (name) => {
      const { packages, bytes } = await installed(project, name);
      return [name, figure(packages), figure(bytes / KIB)];
    }),
  );
  return {
    tables: [{ title: 'Installed, with dependencies', head: ['', 'packages', 'KiB'], rows }],
    results: [],
  };
}
