/** What an app loads when it imports core's entries and the adapters, compared with peers. For sizes, see budgets.ts. */
import { rejects } from 'node:assert/strict';
import {
  difference,
  figure,
  judge,
  ratio,
  type Spread,
  spread,
  withRange,
} from '@payment-service/durability';
import { type Cost, type Entry, importCosts, start } from './footprint.ts';
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
/** Part of every import that hashes with it, and nothing that we can make smaller. */
const NODE_CRYPTO: Entry = { name: 'node:crypto', specifier: 'node:crypto', exported: 'timingSafeEqual' };
const IMPORTED: readonly Entry[] = [...ENTRIES, NODE_CRYPTO];

/** The ratio of an adapter's import to standardwebhooks' import, each without Node's own start. */
const IMPORT_OVER_STANDARD_WEBHOOKS = 2.5;
/** Milliseconds of processor time for an adapter's import, minus that of node:crypto alone. */
const IMPORT_WITHOUT_CRYPTO_MS = 5;
const HEAD = ['ms of processor time', 'without node:crypto', 'times standardwebhooks', 'ms on the clock'];

/** `starts`: the starts of each entry within a round; their median is the round's sample. */
const FULL = { rounds: 9, starts: 7 };
const SHORT = { rounds: 1, starts: 1 };

/** What a program pays before its first line runs, without Node's own start. */
export async function weight({ project, isShort, rounds: given }: Run): Promise<Part> {
  const { rounds, starts } = { ...(isShort ? SHORT : FULL), ...(given && { rounds: given }) };
  await expectRefusal(project);
  await expectNodeCrypto(project);
  const costs: ReadonlyMap<string, Cost>[] = [];
  while (costs.length < rounds) costs.push(await importCosts(project, IMPORTED, starts));
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

/** The control: a missing export and a framework that no adapter may import must both fail. */
async function expectRefusal(project: string): Promise<void> {
  const express = { name: '', specifier: 'express', exported: 'default' };
  for (const entry of [{ ...VERIFIER, exported: 'absent' }, express])
    await rejects(start(project, entry), `Importing ${entry.exported} of ${entry.specifier} was to fail.`);
}

/** The control of the subtraction: an adapter's import loads node:crypto, and Node's own start does not. */
async function expectNodeCrypto(project: string): Promise<void> {
  for (const entry of [undefined, NODE_CRYPTO, ...ADAPTERS]) {
    const { hasNodeCrypto } = await start(project, entry);
    const shouldHave = entry !== undefined;
    if (hasNodeCrypto !== shouldHave)
      throw new Error(`${entry?.name ?? 'Nothing'} ${shouldHave ? 'did not load' : 'loaded'} node:crypto.`);
  }
}
