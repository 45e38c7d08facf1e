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
import { CONTROL, PARTS, type Part, SQL } from './parts.ts';
import { type Fault, isFound, plantFaults } from './plant-faults.ts';
import { plantSql } from './plant-sql.ts';

const flags = readFlags(
  { share: '1', file: '', seed: 'planted' },
  [...PARTS, SQL].map(({ name }) => name),
);
const share = Number(flags.share);
const explained = await readFile(join(import.meta.dirname, '..', 'survivors.md'), 'utf8');

await runProgram({ name: 'mutation', report: flags.report }, async () => {
  const chosen = [...PARTS, SQL].filter(({ name }) => flags.parts.includes(name));
  const faults: Fault[] = [];
  for (const [run, parts] of Map.groupBy(chosen, (part) => part.run))
    faults.push(...(await (run === SQL.run ? plantSql() : plantFaults(run, parts, { ...flags, share }))));
  const ofControl = await plantFaults(CONTROL.run, [CONTROL], { share: 0.1, seed: flags.seed, file: '' });
  const tried = Map.groupBy([...faults, ...ofControl], ({ part }) => part);
  const parts = [...chosen, CONTROL].filter(({ name }) => tried.has(name));
  const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage'];
  return {
    results: parts.flatMap((part) => resultsOf(part, tried.get(part.name) ?? [])),
    tables: [
      {
        title: 'Planted faults',
        head: ['', 'faults', ...statuses, ''],
        rows: parts.map(({ name }) => {
          const own = tried.get(name) ?? [];
          const counts = statuses.map((status) => own.filter((fault) => fault.status === status).length);
          return [name, ...[own.length, ...counts].map(String), ''];
        }),
      },
    ],
    faults,
  };
});

function resultsOf(part: Part, faults: readonly Fault[]): Result[] {
  const score = (100 * faults.filter(isFound).length) / faults.length;
  const bound = part === CONTROL ? 'at most' : 'at least';
  const results = [judge(`${part.name}: faults found`, 'of 100', score, bound, part.target)];
  if (!part.isExplained) return results;
  // A sample says nothing about an entry whose fault it has not tried.
  const missing = faults.filter((fault) => !isFound(fault) && !explained.includes(entryOf(fault)));
  const outdated = faults.filter((fault) => isFound(fault) && explained.includes(entryOf(fault)));
  for (const fault of missing) console.log(`\nUnexplained, line ${fault.line}\n${entryOf(fault)}`);
  for (const fault of outdated) console.log(`\nExplained, and found\n${entryOf(fault)}`);
  const none = (what: string, count: number): Result =>
    judge(`${part.name}: ${what}`, 'faults', count, 'exactly', 0);
  return [
    ...results,
    none('survivors without an explanation', missing.length),
    none('explained, and found', outdated.length),
  ];
}

/** As in survivors.md: `- name.ts: the line`, both in backticks. */
function entryOf({ file, code }: Fault): string {
  const [longest = ''] = (code.match(/`+/g) ?? []).toSorted().reverse();
  const fence = longest.padEnd(longest.length + 1, '`');
  return `- \`${file}\`: ${longest === '' ? `\`${code}\`` : `${fence} ${code} ${fence}`}`;
}
