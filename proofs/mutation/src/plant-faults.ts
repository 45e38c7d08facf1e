import { globSync } from 'node:fs';
import { basename, join, matchesGlob, posix } from 'node:path';
import { atTheEnd, makeFolder } from '@payment-service/durability/measure/program.ts';
import { startPostgres } from '@payment-service/servers/postgres';
import { Stryker } from '@stryker-mutator/core';
import type { Part, Run } from './parts.ts';
import { changedLine, isInSample } from './sample.ts';

/** Otherwise the process of the tests would outlive a run that is ended early. */
const END_WITH_PARENT = 'data:text/javascript,process.on("disconnect",()=>process.exit())';
export const ROOT: string = join(import.meta.dirname, '..', '..', '..');

/** One fault, and whether a test noticed it. */
export interface Fault {
  readonly part: string;
  /** The file's name without its folder, so that it can move. */
  readonly file: string;
  readonly line: number;
  /** The line with the change. With the file, this identifies the fault wherever it moves. */
  readonly code: string;
  /** Killed, Timeout, Survived or NoCoverage: see the documentation of Stryker. */
  readonly status: string;
}

export interface Sample {
  readonly share: number;
  readonly seed: string;
  /** Only faults in files of this name; in all files if it is empty. */
  readonly file: string;
}

export const isFound = ({ status }: Fault): boolean => ['Killed', 'Timeout', 'RuntimeError'].includes(status);

/**
 * Plants faults in the files of some parts of one run, one after another, in a copy of the package, and runs the tests that
 * reach them. The checkout is never changed.
 */
export async function plantFaults(run: Run, parts: readonly Part[], sample: Sample): Promise<Fault[]> {
  const { share, seed, file } = sample;
  const partOf = (path: string): Part | undefined =>
    parts.find(({ files }) => files.some((glob) => matchesGlob(path, glob)));
  const paths = globSync('src/**/*.ts', { cwd: join(ROOT, run.package), exclude: [...(run.except ?? [])] })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => partOf(path) && (file === '' || basename(path) === file));
  if (paths.length === 0) return [];
  const tests = run.tests.map((test) => posix.join(run.package, test));
  const packages = new Set([...tests, `${run.package}/src`].map((path) => path.split('/', 2).join('/')));
  process.chdir(ROOT);
  Object.assign(process.env, {
    MUTATION_CHECKOUT: ROOT,
    MUTATION_TESTS: JSON.stringify(tests),
    MUTATION_SHARE: String(share),
    MUTATION_SEED: seed,
    MUTATION_POSTGRES: run.package === 'packages/inbox' ? await serverUrl() : '',
  });
  const results = await new Stryker({
    mutate: paths.map((path) => `${run.package}/${path}`),
    ignorePatterns: [
      '**',
      ...[...packages].map((folder) => `!${folder}/**`),
      '!proofs/mutation/src/**',
      '!{openapi,*.{json,ts}}',
      '**/{dist,node_modules}',
    ],
    tempDirName: await makeFolder(),
    testRunner: 'vitest',
    vitest: { configFile: 'proofs/mutation/src/vitest.config.ts', related: false },
    plugins: [import.meta.resolve('@stryker-mutator/vitest-runner'), import.meta.resolve('./sample.ts')],
    checkers: share < 1 ? ['sample'] : [],
    incremental: share === 1,
    incrementalFile: `reports/mutation/${parts.map(({ name }) => name).join('-')}.json`,
    coverageAnalysis: 'perTest',
    concurrency: 2,
    dryRunTimeoutMinutes: 30,
    testRunnerNodeArgs: ['--import', END_WITH_PARENT],
    // A fault that loops costs four times the duration of its tests, plus ten seconds, so that a slow test on a busy machine
    // does not look as if it had found something.
    timeoutFactor: 4,
    timeoutMS: 10_000,
    disableTypeChecks: false,
    // No such file: Stryker would rewrite it with the compiler's API, which TypeScript 7 does not have.
    tsconfigFile: 'none',
    reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only', 'survivors'],
    logLevel: 'warn',
    warnings: { slow: false },
  } as object).runMutationTest();
  const faults: Fault[] = [];
  for (const { status, ...planted } of results) {
    const { fileName, location } = planted;
    const name = partOf(posix.relative(run.package, posix.relative(ROOT, fileName)))?.name;
    if (name === undefined || !isInSample(planted, share, seed) || status === 'Ignored') continue;
    const { line } = location.start;
    faults.push({ part: name, file: basename(fileName), line, code: changedLine(planted), status });
  }
  return faults;
}

/** One server for all tests and faults of a run: each test creates its own database or schema on it. */
async function serverUrl(): Promise<string> {
  const server = await startPostgres({ autovacuum: 'off', max_connections: '500' });
  atTheEnd(() => server.stop());
  return server.url;
}
