import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Rehearsed, rehearse, type Stage } from './project.ts';
import { copyRepository, publish, version } from './publish.ts';
import { npmSettings, type Registry, requireThirdPartyRegistry, SCOPE, startRegistry } from './registry.ts';
import type { Row } from './row.ts';
import { run } from './run.ts';

/** A row, and what came of it. `problems` is empty where it did what it must. */
export interface Outcome extends Rehearsed {
  readonly row: Row;
  readonly seconds: number;
}

const AT_A_TIME = 2;

/**
 * Versions, builds and publishes the packages to a registry of its own, and runs the rows.
 *
 * @param onProgress receives one line for each step.
 * @throws {Error} when something fails before the first row.
 */
export async function runRehearsal(
  rows: readonly Row[],
  onProgress: (line: string) => void,
): Promise<readonly Outcome[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rehearsal-'));
  let registry: Registry | undefined;
  try {
    await requireThirdPartyRegistry(folder);
    const repository = join(folder, 'repository');
    await copyRepository(repository);
    const packages = await version(repository);
    onProgress(`versioned ${packages.size} packages`);
    registry = await startRegistry(join(folder, 'registry'));
    await publish(repository, packages, registry);
    onProgress('built and published');
    const stage = await prepareStage(folder, registry);
    return await runRows(rows, stage, onProgress);
  } finally {
    await registry?.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Installs what the rows share, the sandbox from the registry. */
async function prepareStage(folder: string, registry: Registry): Promise<Stage> {
  const tools = join(folder, 'tools');
  await mkdir(tools);
  const dependencies = { [`${SCOPE}/sandbox`]: 'latest', '@yarnpkg/cli-dist': '4.18.1' };
  await writeFile(join(tools, 'package.json'), JSON.stringify({ private: true, dependencies }));
  await writeFile(join(tools, '.npmrc'), npmSettings(registry));
  await run({ command: 'npm', args: ['install', '--prefer-offline', '--no-package-lock'], cwd: tools });
  const thirdParty = await run({ command: 'npm', args: ['config', 'get', 'registry'], cwd: folder });
  const { resolve } = createRequire(join(tools, 'package.json'));
  const { createSandbox } = (await import(
    pathToFileURL(resolve(`${SCOPE}/sandbox`)).href
  )) as typeof import('@payment-service/sandbox');
  return {
    registry,
    thirdParty: /https?:\/\/\S+/.exec(thirdParty)?.[0] ?? '',
    folder: join(folder, 'projects'),
    yarn: resolve('@yarnpkg/cli-dist/bin/yarn.js'),
    createSandbox,
  };
}

async function runRows(
  rows: readonly Row[],
  stage: Stage,
  onProgress: (line: string) => void,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...rows];
  const next = async (): Promise<void> => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const began = performance.now();
      const { installed, problems: found } = await rehearse(row, stage);
      const problems = judge(row, found);
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      outcomes.push({ row, seconds, problems, installed });
      onProgress([`${row.name}: ${problems.length === 0 ? 'pass' : 'MISSED'}`, ...problems].join('\n    '));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, next));
  return outcomes.sort((left, right) => rows.indexOf(left.row) - rows.indexOf(right.row));
}

/** A control must fail, and for its own reason. */
export function judge({ fails }: Row, problems: readonly string[]): readonly string[] {
  if (fails === undefined) return problems;
  if (problems.length === 0) return ['it passed, and is a control that must fail'];
  return fails.test(problems.join('\n')) ? [] : ['it failed for another reason:', ...problems];
}
