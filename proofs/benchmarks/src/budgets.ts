/**
 * `pnpm budgets`: what users install, bundle and load, in one table with the peers. Writes reports/budgets.json, and exits with 1
 * if a budget is exceeded.
 */

import { rejects } from 'node:assert/strict';
import { figure, makeFolder, readFlags, runProgram, type Table } from '@payment-service/durability';
import { BUDGETS, budgetResults, type Footprint } from './budget-results.ts';
import { bundle, type Entry, importCosts, installed, start } from './footprint.ts';
import { installPacked, PACKAGES, PEERS } from './installed.ts';

const STARTS = 15;
const KIB = 1024;

await runProgram({ name: 'budgets', report: readFlags({}).report }, async () => {
  const footprints = await measure((await installPacked(await makeFolder())).project);
  return { results: budgetResults(footprints, BUDGETS), tables: [footprintTable(footprints)] };
});
function entryOf(name: string, exported: string, specifier: string = `@payment-service/${name}`): Entry {
  return { name, specifier, exported };
}

async function measure(project: string): Promise<readonly Footprint[]> {
  const entries = [
    entryOf('core', 'createVerifier'),
    entryOf('core/client', 'createClient'),
    ...PACKAGES.filter((name) => name !== 'core').map((name) => entryOf(name, 'paymentCallbacks')),
    ...Object.entries(PEERS).map(([name, exported]) => entryOf(name, exported, name)),
  ];
  // Controls: a missing export, and a framework that no adapter may import, must both fail.
  for (const wrong of [entryOf('core', 'absent'), entryOf('express', 'default', 'express')])
    await rejects(start(project, wrong), `Importing ${wrong.exported} of ${wrong.specifier} was to fail.`);
  const costs = await importCosts(project, entries, STARTS);
  const footprints: Footprint[] = [];
  for (const entry of entries) {
    const [, name = entry.specifier] = /^(@payment-service\/core)\b/.exec(entry.specifier) ?? [];
    const { packages, bytes: installedBytes } = await installed(project, name);
    const { bytes, gzipped } = await bundle(project, entry);
    const importMs = costs.get(entry.name) ?? Number.NaN;
    footprints.push({ name: entry.name, installedBytes, packages, importMs, bytes, gzipped });
  }
  return footprints;
}

function footprintTable(footprints: readonly Footprint[]): Table {
  return {
    title: 'What users install, load and bundle',
    head: ['', 'installed, KiB', 'packages', 'cold import, ms', 'bundle, bytes', 'gzipped'],
    rows: footprints.map(({ name, installedBytes, packages, importMs, bytes, gzipped }) => [
      name,
      ...[installedBytes / KIB, packages, importMs, bytes, gzipped].map(figure),
    ]),
  };
}
