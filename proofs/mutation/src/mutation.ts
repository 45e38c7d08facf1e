/**
 * `pnpm lab mutation [part]… [--file name.ts] [--share 0.1] [--seed text] [--report path]`: plants faults in the code, one
 * after another (Stryker), and counts those that no test finds. In parts that handle money or signatures, each survivor is
 * explained in survivors.md; one that is not, or an explained one that is now found, is a miss. Faults found once are not tried
 * again while their code and tests stay the same (reports/mutation).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFlags, runProgram } from '@payment-service/durability/measure/program.ts';
import { judge, type Result } from '@payment-service/durability/measure/results.ts';
import type { Table } from '@payment-service/durability/measure/tables.ts';
import { CONTRACT, CONTROL, PARTS, type Part } from './parts.ts';
import { plantContractFaults } from './plant-contract-faults.ts';
import { type Fault, plantFaults } from './plant-faults.ts';
import { compareSurvivors, entryOf, explainedIn } from './survivors.ts';

const flags = readFlags(
  { share: '1', file: '', seed: 'planted' },
  PARTS.map(({ name }) => name),
);
const explained = explainedIn(await readFile(join(import.meta.dirname, '..', 'survivors.md'), 'utf8'));

interface Tried {
  readonly part: Part;
  readonly faults: readonly Fault[];
}

await runProgram({ name: 'mutation', report: flags.report }, async () => {
  const tried: Tried[] = [];
  for (const part of [...PARTS.filter(({ name }) => flags.parts.includes(name)), CONTROL]) {
    const faults = await (part === CONTRACT
      ? plantContractFaults(sampleOf(part))
      : plantFaults(part, sampleOf(part), part === CONTROL ? '' : flags.file));
    tried.push({ part, faults });
  }
  return {
    results: tried.flatMap(resultsOf),
    tables: [countTable(tried)],
    survivors: tried.flatMap(({ faults }) => faults.filter(({ isFound }) => !isFound)),
  };
});

function sampleOf(part: Part): { readonly share: number; readonly seed: string } {
  const { share = 1 } = part;
  return { share: part === CONTROL ? share : Math.min(share, Number(flags.share)), seed: flags.seed };
}

function resultsOf({ part, faults }: Tried): Result[] {
  const { name } = part;
  const found = faults.filter(({ isFound }) => isFound).length;
  const bound = part === CONTROL ? 'at most' : 'at least';
  const score = judge(`${name}: faults found`, 'of 100', (100 * found) / faults.length, bound, part.target);
  if (!part.isExplained || sampleOf(part).share < 1) return [score];
  const { unexplained, outdated } = compareSurvivors(faults, explained);
  for (const fault of unexplained) console.log(`\nUnexplained, line ${fault.line}\n${entryOf(fault)}`);
  for (const entry of outdated) console.log(`\nExplained, and found or gone\n${entryOf(entry)}`);
  return [
    score,
    judge(`${name}: survivors without an explanation`, 'faults', unexplained.length, 'exactly', 0),
    judge(`${name}: explanations without a survivor`, 'entries', outdated.length, 'exactly', 0),
  ];
}

function countTable(tried: readonly Tried[]): Table {
  return {
    title: 'Planted faults',
    head: ['', 'faults', 'found by a test', 'found, endless', 'survived', 'not reached', ''],
    rows: tried.map(({ part: { name }, faults }) => {
      const count = (status: string): number => faults.filter((fault) => fault.status === status).length;
      const [endless, survived, notReached] = [count('Timeout'), count('Survived'), count('NoCoverage')];
      const found = faults.length - endless - survived - notReached;
      return [name, ...[faults.length, found, endless, survived, notReached].map(String), ''];
    }),
  };
}
