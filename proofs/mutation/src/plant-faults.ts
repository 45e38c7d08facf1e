import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { atTheEnd, makeFolder } from '@payment-service/durability/measure/program.ts';
import { startPostgres } from '@payment-service/servers/postgres';
import { Stryker } from '@stryker-mutator/core';
import { INBOX, type Part } from './parts.ts';
import { isInSample, type Sample } from './sample.ts';

/** Otherwise the process of the tests would outlive a run that is ended early. */
const END_WITH_PARENT = 'data:text/javascript,process.on("disconnect",()=>process.exit())';
const ROOT = join(import.meta.dirname, '..', '..', '..');

/** One fault, and whether a test noticed it. */
export interface Fault {
  /** The file's name without its folder, so that it can move. */
  readonly file: string;
  readonly line: number;
  /** The line with the change. With the file, this identifies the fault wherever it moves. */
  readonly code: string;
  readonly isFound: boolean;
  /** Killed, Timeout, Survived or NoCoverage: see the documentation of Stryker. */
  readonly status: string;
}

/**
 * Plants the faults of a part, one after another, in a copy of the package, and runs the tests that reach them. The checkout is
 * never changed.
 *
 * @param name only faults in files of this name; in all files if it is empty.
 */
export async function plantFaults(part: Part, sample: Sample, name: string): Promise<Fault[]> {
  process.chdir(ROOT);
  if (part.package === INBOX) process.env['MUTATION_POSTGRES'] = await serverUrl();
  const faults: Fault[] = [];
  for (const [index, [mutate, tests, except]] of part.runs.entries()) {
    const files = globSync(mutate, { cwd: join(ROOT, part.package), exclude: except ? [except] : [] });
    const paths = files.filter((path) => name === '' || basename(path) === name);
    if (paths.length === 0) continue;
    const judges = [tests].flat().map((test) => posix.join(part.package, test));
    const packages = new Set([...judges, `${part.package}/src`].map((path) => path.split('/', 2).join('/')));
    Object.assign(process.env, {
      MUTATION_CHECKOUT: ROOT,
      MUTATION_TESTS: JSON.stringify(judges),
      MUTATION_SAMPLE: JSON.stringify(sample),
    });
    const results = await new Stryker({
      mutate: paths.map((path) => `${part.package}/${path.replaceAll('\\', '/')}`),
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
      plugins: [
        import.meta.resolve('@stryker-mutator/vitest-runner'),
        import.meta.resolve('./sample-checker.ts'),
        import.meta.resolve('./survivor-reporter.ts'),
      ],
      checkers: sample.share < 1 ? ['sample'] : [],
      incremental: sample.share === 1,
      incrementalFile: `reports/mutation/${part.name}-${index}.json`,
      coverageAnalysis: 'perTest',
      concurrency: 2,
      testRunnerNodeArgs: ['--import', END_WITH_PARENT],
      // The cost of a fault that loops endlessly: four times the duration of its tests, plus ten seconds, so that a slow test
      // on a busy machine does not look as if it had found something.
      timeoutFactor: 4,
      timeoutMS: 10_000,
      disableTypeChecks: false,
      // No such file: Stryker would rewrite it with the compiler's API, which TypeScript 7 does not have.
      tsconfigFile: 'none',
      reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only', 'survivors'],
      logLevel: 'warn',
      warnings: { slow: false },
    } as object).runMutationTest();
    for (const { id, fileName, location, replacement = '', status } of results) {
      if (!isInSample(id, sample) || status === 'Ignored') continue;
      faults.push({
        file: basename(fileName),
        line: location.start.line,
        code: changedLine(await readFile(fileName, 'utf8'), location, replacement),
        isFound: status === 'Killed' || status === 'Timeout' || status === 'RuntimeError',
        status,
      });
    }
  }
  return faults;
}

/** One server for all tests and faults of a run: each test creates its own database or schema on it. */
async function serverUrl(): Promise<string> {
  const server = await startPostgres({ autovacuum: 'off', max_connections: '500' });
  atTheEnd(() => server.stop());
  return server.url;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

/** `if («a === b → true») {`. Positions count from 1. */
function changedLine(
  text: string,
  { start, end }: { readonly start: Position; readonly end: Position },
  replacement: string,
): string {
  const lines = text.split('\n');
  const at = ({ line, column }: Position): number =>
    lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0) + column - 1;
  const [from, to] = [at(start), at(end)];
  const [before = '', after = ''] = [text.slice(0, from).split('\n').at(-1), text.slice(to).split('\n')[0]];
  const [original, changed] = [text.slice(from, to), replacement].map((code) => code.replace(/\s+/g, ' '));
  const shown = original !== undefined && original.length > 60 ? `${original.slice(0, 60)}…` : original;
  return `${before}«${shown} → ${changed}»${after}`.replace(/\s+/g, ' ').trim();
}
