/**
 * `pnpm budgets`: what users install, bundle and load, with the peers in the same table. Writes docs/budgets.md with
 * --write-docs, and exits with 1 where a budget is exceeded or a peer is smaller for a reason that is not written down.
 */

import { join } from 'node:path';
import {
  cleanUp,
  environment,
  figure,
  interleave,
  makeFolder,
  printTable,
  quantile,
  resultTable,
  type Table,
} from '@payment-service/laboratory';
import {
  alike,
  BUDGETS,
  budgetResults,
  type Footprint,
  lighterPeers,
  unexplained,
} from './budget-results.ts';
import { bundle, type Entry, installed, start } from './footprint.ts';
import { installPacked } from './installed.ts';
import { ADAPTERS, CLIENT, PEER_ENTRIES, VERIFIER } from './weight.ts';
import { writeDocs } from './write-docs.ts';

const STARTS = 15;
const NAMES: Readonly<Record<string, string>> = {
  installedBytes: 'installed, bytes',
  importMs: 'cold import, ms',
  bytes: 'bundle, bytes',
};
const KIB = 1024;
const root = join(import.meta.dirname, '..', '..');
try {
  await budgets((await installPacked(await makeFolder())).project);
} finally {
  await cleanUp();
}

async function budgets(project: string): Promise<void> {
  const entries = [VERIFIER, CLIENT, ...ADAPTERS, ...PEER_ENTRIES];
  const nothing = undefined;
  const times = await interleave([nothing, ...entries], STARTS, Math.random, (entry) =>
    start(project, entry),
  );
  const cpuMs = (entry: Entry | undefined): number =>
    quantile(
      (times.get(entry) ?? []).map((time) => time.cpuMs),
      0.5,
    );
  const footprints: Footprint[] = [];
  for (const entry of entries) {
    const name = entry.specifier.startsWith('@payment-service/core')
      ? '@payment-service/core'
      : entry.specifier;
    const { packages, bytes: installedBytes } = await installed(project, name);
    const { bytes, gzipped } = await bundle(project, entry, 'node');
    const importMs = cpuMs(entry) - cpuMs(nothing);
    footprints.push({ name: entry.name, installedBytes, packages, importMs, bytes, gzipped });
  }
  const results = budgetResults(footprints, BUDGETS);
  const lighter = lighterPeers(footprints);
  const tables: Table[] = [
    {
      title: 'What users install, load and bundle',
      head: ['', 'installed, KiB', 'packages', 'cold import, ms', 'bundle, bytes', 'gzipped'],
      rows: footprints.map((one) => [
        one.name,
        figure(one.installedBytes / KIB),
        figure(one.packages),
        figure(one.importMs),
        figure(one.bytes),
        figure(one.gzipped),
      ]),
    },
    {
      title: 'Where a peer that does the same work is lighter',
      head: ['', 'measure', 'ours', 'theirs', ''],
      rows: alike(lighter).map((group) => {
        const [{ peer, measure, theirs, why = 'NOT EXPLAINED' }] = group;
        const own = group.map((one) => one.own);
        const least = figure(Math.min(...own));
        return [
          `${group.map(({ name }) => name).join(', ')} beside ${peer}`,
          NAMES[measure] ?? measure,
          own.length === 1 ? least : `${least} to ${figure(Math.max(...own))}`,
          figure(theirs),
          why,
        ];
      }),
    },
  ];
  for (const table of tables) printTable(table);
  printTable(resultTable(results));
  if (process.argv.includes('--write-docs')) {
    const date = new Date().toISOString();
    const path = join(root, 'docs', 'budgets.md');
    await writeDocs(path, { date, environment: environment(), results, tables });
  }
  const problems = [
    ...results.filter(({ met }) => !met).map(({ name }) => `${name}: over its budget`),
    ...unexplained(lighter),
  ];
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
