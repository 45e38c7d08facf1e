/**
 * `pnpm budgets`: what users install, bundle and load, in one table with the peers. Writes reports/budgets.json, and
 * docs/benchmarks.md with --write-docs, and exits with 1 if a budget is exceeded, or if a peer is smaller for no documented
 * reason.
 */

import { join } from 'node:path';
import { figure, makeFolder, readFlags, runProgram, type Table } from '@payment-service/durability';
import {
  BUDGETS,
  budgetResults,
  type Footprint,
  type Lighter,
  lighterPeers,
  unexplained,
} from './budget-results.ts';
import { bundle, importCosts, installed } from './footprint.ts';
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

const flags = readFlags({ writeDocs: false });
const report = await runProgram({ name: 'budgets', report: flags.report }, async () => {
  const footprints = await measure((await installPacked(await makeFolder())).project);
  const lighter = lighterPeers(footprints);
  for (const problem of unexplained(lighter)) {
    console.error(problem);
    process.exitCode = 1;
  }
  const tables = [footprintTable(footprints), lighterTable(lighter)];
  return { results: budgetResults(footprints, BUDGETS), tables };
});
if (flags.writeDocs)
  await writeDocs(join(import.meta.dirname, '..', '..', '..', 'docs', 'benchmarks.md'), 'budgets', report);

async function measure(project: string): Promise<readonly Footprint[]> {
  const entries = [VERIFIER, CLIENT, ...ADAPTERS, ...PEER_ENTRIES];
  const costs = await importCosts(project, entries, STARTS);
  const footprints: Footprint[] = [];
  for (const entry of entries) {
    const [, name = entry.specifier] = /^(@payment-service\/core)\b/.exec(entry.specifier) ?? [];
    const { packages, bytes: installedBytes } = await installed(project, name);
    const { bytes, gzipped } = await bundle(project, entry, 'node');
    const inBrowser = await bundle(project, entry, 'browser').catch(() => undefined); // Some peers need Node.
    const browserBytes = inBrowser?.bytes;
    const importMs = costs.get(entry.name)?.cpuMs ?? Number.NaN;
    footprints.push({ name: entry.name, installedBytes, packages, importMs, bytes, gzipped, browserBytes });
  }
  return footprints;
}

function footprintTable(footprints: readonly Footprint[]): Table {
  return {
    title: 'What users install, load and bundle',
    head: ['', 'installed, KiB', 'packages', 'cold import, ms', 'bundle, bytes', 'gzipped', 'for browsers'],
    rows: footprints.map(({ name, installedBytes, packages, importMs, bytes, gzipped, browserBytes }) => [
      name,
      ...[installedBytes / KIB, packages, importMs, bytes, gzipped].map(figure),
      browserBytes === undefined ? '' : figure(browserBytes),
    ]),
  };
}

function lighterTable(lighter: readonly Lighter[]): Table {
  return {
    title: 'Where a peer that does the same work is lighter',
    head: ['', 'measure', 'ours', 'theirs', ''],
    // Entries that one peer beats in the same measure share a row, since the adapters differ by little.
    rows: lighter.flatMap(({ peer, measure, theirs, why = 'NOT EXPLAINED' }, index) => {
      const group = lighter.filter((one) => one.peer === peer && one.measure === measure);
      if (group[0] !== lighter[index]) return [];
      const own = group.map((one) => one.own);
      const least = figure(Math.min(...own));
      const names = `${group.map(({ name }) => name).join(', ')} beside ${peer}`;
      const range = own.length === 1 ? least : `${least} to ${figure(Math.max(...own))}`;
      return [[names, NAMES[measure] ?? measure, range, figure(theirs), why]];
    }),
  };
}
