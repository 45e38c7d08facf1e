/**
 * `pnpm rehearse [row…]`: publishes the packages to a throw-away registry on loopback, installs them from it into fresh
 * projects and runs these. Prints a table, writes reports/rehearse.json, and exits with 1 if a row fails or a control passes.
 * Without names, runs all rows and controls.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { publishedPackages, root, run, sideBySide } from '@payment-service/release/toolchains';
import { copyRepository, versionAndBuild } from '../repository.ts';
import { type Rehearsed, rehearse, type Stage } from './project.ts';
import {
  npmSettings,
  publish,
  type Registry,
  requireThirdPartyRegistry,
  SCOPE,
  startRegistry,
} from './registry.ts';
import { ROWS, type Row } from './rows.ts';

/** A row and its result. `problems` is empty if the row worked as expected. */
export interface Outcome extends Rehearsed {
  readonly row: Row;
}

const AT_A_TIME = 2;

/**
 * Versions, builds and publishes the packages to a temporary registry, and runs the rows.
 *
 * @param onProgress Receives one line per step.
 * @throws {Error} if something fails before the first row.
 */
export async function runRehearsal(
  rows: readonly Row[],
  onProgress: (line: string) => void,
): Promise<readonly Outcome[]> {
  await using scratch = await mkdtempDisposable(join(tmpdir(), 'rehearsal-'));
  const folder = scratch.path;
  await requireThirdPartyRegistry(folder);
  const repository = join(folder, 'repository');
  await copyRepository(repository);
  await versionAndBuild(repository);
  using registry = await startRegistry(folder);
  const packages = publishedPackages(repository);
  await publish(packages, registry);
  onProgress(`built and published ${packages.length} packages`);
  const stage = await prepareStage(folder, registry);
  return await sideBySide(rows, AT_A_TIME, async (row) => {
    const { installed, problems: found } = await rehearse(row, stage);
    const problems = judge(row, found);
    onProgress([`${row.name}: ${problems.length === 0 ? 'pass' : 'MISSED'}`, ...problems].join('\n    '));
    return { row, problems, installed };
  });
}

/** Installs what the rows share: the sandbox from the registry, and Yarn. */
async function prepareStage(folder: string, registry: Registry): Promise<Stage> {
  const dependencies = { [`${SCOPE}/sandbox`]: 'latest', '@yarnpkg/cli-dist': '4.18.1' };
  const tools = join(folder, 'tools');
  mkdirSync(tools);
  writeFileSync(join(tools, 'package.json'), JSON.stringify({ private: true, dependencies }));
  writeFileSync(join(tools, '.npmrc'), npmSettings(registry));
  await run({ command: 'npm', args: ['install', '--prefer-offline', '--no-package-lock'], cwd: tools });
  const thirdParty = await run({ command: 'npm', args: ['config', 'get', 'registry'], cwd: folder });
  const { resolve } = createRequire(join(tools, 'package.json'));
  const { createSandbox } = (await import(
    pathToFileURL(resolve(`${SCOPE}/sandbox`)).href
  )) as typeof import('@payment-service/sandbox');
  const yarn = resolve('@yarnpkg/cli-dist/bin/yarn.js');
  const source = { registry, thirdParty: thirdParty.trim(), yarn };
  return { folder: join(folder, 'projects'), createSandbox, source };
}

/** A control must fail, and for the expected reason. */
export function judge({ fails }: Row, problems: readonly string[]): readonly string[] {
  if (fails === undefined) return problems;
  if (problems.length === 0) return ['it passed, but is a control that must fail'];
  return fails.test(problems.join('\n')) ? [] : ['it failed for another reason:', ...problems];
}

/** The outcomes as a Markdown table. */
function table(outcomes: readonly Outcome[]): string {
  const lines = outcomes.map(({ row, problems, installed }) => {
    const { name, about, installer = 'npm', node = 24, type = 'module', fails } = row;
    const format = type === 'module' ? 'ESM' : 'CommonJS';
    const [pass, miss] = fails === undefined ? ['pass', 'MISSED'] : ['fails, as expected', 'MISSED: passes'];
    const outcome = problems.length === 0 ? pass : miss;
    return `| ${[name, about, installer, node, format, installed.join(', '), outcome].join(' | ')} |`;
  });
  const head =
    '| row | what | installer | Node | format | installed | outcome |\n|---|---|---|---:|---|---|---|';
  return [head, ...lines].join('\n');
}

if (import.meta.main) {
  const names = process.argv.slice(2).filter((argument) => argument !== '--');
  const unknown = names.filter((name) => ROWS.every((row) => row.name !== name));
  if (unknown.length > 0) {
    console.error(`Unknown: ${unknown.join(', ')}. Rows: ${ROWS.map(({ name }) => name).join(' ')}`);
    process.exitCode = 2;
  } else {
    const rows = ROWS.filter(({ name }) => names.length === 0 || names.includes(name));
    const outcomes = await runRehearsal(rows, (line) => console.log(line));
    console.log(`\n${table(outcomes)}`);
    mkdirSync(join(root, 'reports'), { recursive: true });
    const results = outcomes.map(({ row, problems }) => {
      const unit = row.fails === undefined ? 'problems' : 'problems of the control';
      const [value, met] = [problems.length, problems.length === 0];
      return { name: row.name, value, unit, target: 0, bound: 'exactly', met };
    });
    const report = { name: 'rehearse', date: new Date().toISOString(), results };
    writeFileSync(join(root, 'reports/rehearse.json'), `${JSON.stringify(report, null, 2)}\n`);
    process.exitCode = outcomes.every(({ problems }) => problems.length === 0) ? 0 : 1;
  }
}
