/**
 * `pnpm bench [verify|weight|http|client …]`: every part beside its peers, all of them by default. Prints tables,
 * writes reports/bench.json, and exits with 1 where a target is missed.
 *
 * --short runs everything once: it shows that the controls fail where they must and what the report looks like; its
 * figures are noise, so no target is held against them. --only takes the start of a framework's name (http). --rounds
 * sets the rounds of every part. --report names another file. --write-docs puts the figures into docs/benchmarks.md.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeFolder, runProgram } from '@payment-service/laboratory';
import { client } from './client.ts';
import { http } from './http.ts';
import { installPacked } from './installed.ts';
import type { Part, Run } from './part.ts';
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
const { short: isShort, report: file } = flags;
const report = await runProgram({ name: 'bench', isShort, report: file }, async () => {
  const run: Run = {
    ...(await installPacked(await makeFolder())),
    isShort,
    only: flags.only,
    rounds: flags.rounds === undefined ? undefined : Number(flags.rounds),
    random: Math.random,
  };
  const parts: Part[] = [];
  for (const name of chosen) {
    const part = await PARTS.get(name)?.(run);
    if (part !== undefined) parts.push(part);
  }
  return { results: parts.flatMap(({ results }) => results), tables: parts.flatMap(({ tables }) => tables) };
});
if (flags['write-docs']) await writeDocs(join(root, 'docs', 'benchmarks.md'), report);
