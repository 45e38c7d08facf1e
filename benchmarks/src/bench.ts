/**
 * `pnpm bench [verify|weight|http|client …]`: every part beside its peers, all of them by default. Prints tables,
 * writes reports/bench.json, and exits with 1 where a target is missed.
 *
 * --short runs everything once: it shows that the controls fail where they must and what the report looks like; its
 * figures are noise, so no target is held against them. --only takes the start of a framework's name (http). --rounds
 * sets the rounds of every part. --report names another file. --write-docs puts the figures into docs/benchmarks.md.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { client } from './client.ts';
import { http } from './http.ts';
import { installPacked } from './installed.ts';
import type { Part, Report, Run } from './part.ts';
import { printTable, targetTable } from './print-tables.ts';
import { verify } from './verify.ts';
import { weight } from './weight.ts';
import { writeDocs } from './write-docs.ts';

const PARTS = new Map<string, (run: Run) => Promise<Part>>(Object.entries({ verify, weight, http, client }));

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    report: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
  },
});
const chosen = positionals.length === 0 ? [...PARTS.keys()] : positionals;
for (const name of chosen)
  if (!PARTS.has(name))
    throw new Error(`There is no part "${name}": choose from ${[...PARTS.keys()].join(', ')}.`);
const root = join(import.meta.dirname, '..', '..');
const report = flags.report ?? join(root, 'reports', 'bench.json');
const folder = await mkdtemp(join(tmpdir(), 'payment-service-bench-'));
try {
  await bench();
} finally {
  await rm(folder, { recursive: true });
}

async function bench(): Promise<void> {
  const environment = { node: process.version, platform: process.platform, cores: availableParallelism() };
  console.log(`Node ${environment.node}, ${environment.platform}, ${environment.cores} cores`);
  const run: Run = {
    ...(await installPacked(folder)),
    isShort: flags.short,
    only: flags.only,
    rounds: flags.rounds === undefined ? undefined : Number(flags.rounds),
    random: Math.random,
  };
  const parts: Part[] = [];
  for (const name of chosen) {
    const measure = PARTS.get(name);
    if (measure === undefined)
      throw new Error(`There is no part "${name}": ${[...PARTS.keys()].join(', ')}.`);
    const part = await measure(run);
    for (const table of part.tables) printTable(table);
    parts.push(part);
  }
  const results = parts.flatMap((part) => part.results);
  printTable(targetTable(results));
  const content: Report = {
    name: 'bench',
    date: new Date().toISOString(),
    isShort: flags.short,
    environment,
    results,
    tables: parts.flatMap((part) => part.tables),
  };
  await mkdir(dirname(report), { recursive: true });
  await writeFile(report, `${JSON.stringify(content, null, 2)}\n`);
  if (flags['write-docs']) await writeDocs(join(root, 'docs', 'benchmarks.md'), content);
  console.log(`\nWritten to ${relative(process.cwd(), report)}.`);
  if (flags.short) console.log('A short run: its figures are noise, and no target is held against them.');
  else if (results.some(({ met }) => !met)) process.exitCode = 1;
}
