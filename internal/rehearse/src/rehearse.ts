/**
 * `pnpm rehearse [row…]`: publishes the packages to a throw-away registry on loopback, installs them from it into fresh
 * projects and runs those. Prints a table, writes reports/rehearse.json, and ends with 1 where a row misses or a control
 * passes. Without names, all rows and controls run.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { type Outcome, runRehearsal } from './rehearsal.ts';
import { CONTROLS, ROWS } from './rows.ts';

const all = [...ROWS, ...CONTROLS];
const names = process.argv.slice(2).filter((argument) => argument !== '--');
const unknown = names.filter((name) => all.every((row) => row.name !== name));

if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. Rows: ${all.map(({ name }) => name).join(' ')}`);
  process.exitCode = 2;
} else {
  const rows = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
  const outcomes = await runRehearsal(rows, (line) => console.log(line));
  await report(outcomes);
  process.exitCode = outcomes.every(({ problems }) => problems.length === 0) ? 0 : 1;
}

async function report(outcomes: readonly Outcome[]): Promise<void> {
  console.log(`\n${table(outcomes)}`);
  const path = join(import.meta.dirname, '..', '..', '..', 'reports', 'rehearse.json');
  const content = {
    name: 'rehearse',
    date: new Date().toISOString(),
    results: outcomes.map(({ row, seconds, problems, installed }) => ({
      name: row.name,
      about: row.about,
      installed,
      isControl: row.fails !== undefined,
      seconds,
      met: problems.length === 0,
      problems,
    })),
    environment: {
      node: process.version,
      platform: process.platform,
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
  };
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(content, null, 2)}\n`);
  console.log(`\nWritten to ${relative(process.cwd(), path)}.`);
}

/** As docs/rehearsal.md has it. */
function table(outcomes: readonly Outcome[]): string {
  const lines = outcomes.map(({ row, problems, installed }) => {
    const { name, about, installer = 'npm', node = 24, type = 'module', fails } = row;
    const format = type === 'module' ? 'ESM' : 'CommonJS';
    const [pass, miss] = fails === undefined ? ['pass', 'MISSED'] : ['fails, as it must', 'MISSED: passes'];
    return `| ${name} | ${about} | ${installer} | ${node} | ${format} | ${installed.join(', ')} | ${problems.length === 0 ? pass : miss} |`;
  });
  return [
    '| row | what | installer | Node | format | installed | outcome |',
    '|---|---|---|---:|---|---|---|',
    ...lines,
  ].join('\n');
}
