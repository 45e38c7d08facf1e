/**
 * The last line of the test command counts only tests that have run and passed. The reports come from vitest itself, so
 * that a change of their format is noticed.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { countReport } from '../../../tools/count-report.ts';
import { emptyFolder } from '../src/extracted.ts';

const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');
const two = "import { test } from 'vitest';\ntest('one', () => {});\ntest('two', () => {});\n";
const [good, skipping, failing, broken] = await Promise.all([
  reportOn('good', { 'a.test.ts': two, 'b.test.ts': two }),
  reportOn('skipping', { 'a.test.ts': `${two}test.skip('three', () => {});\ntest.todo('four');\n` }),
  reportOn('failing', { 'a.test.ts': `${two}test('three', () => {\n  throw new Error('3');\n});\n` }),
  reportOn('broken', { 'a.test.ts': two, 'b.test.ts': "import './gone.ts';\n" }),
]);

const [A, B, C] = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts'];

test.each([
  ['tests that passed', good, [A, B], 4, []],
  [
    'skipped and todo tests, which vitest reports as a success,',
    skipping,
    [A],
    2,
    ['test/a.test.ts > three: skipped', 'test/a.test.ts > four: todo'],
  ],
  ['a failing test', failing, [A], 2, ['test/a.test.ts > three: Error: 3']],
  ['a suite that did not load', broken, [A, B], 2, [expect.stringMatching(/^test\/b\.test\.ts: .*gone\.ts/)]],
  ['a test file that did not run', good, [A, B, C], 4, ['test/c.test.ts: did not run']],
])(
  '%s counts, and each failure is named with the first line of its message',
  (_what, report, files, passed, failures) => {
    expect(countReport(report, files)).toEqual({ passed, failures });
  },
);

test('a report that is missing, broken, empty or in another format, and a run that failed, count as failed', () => {
  const passing = JSON.parse(good);
  const others = [
    { success: true, testResults: [] },
    { ...passing, success: false },
  ].map((one) => JSON.stringify(one));
  for (const report of [undefined, '', '{"success":true', '{}', 'null', ...others])
    expect(countReport(report, []).failures).toHaveLength(1);
});

/** Runs vitest on the given test files in a separate folder, and returns its report. */
async function reportOn(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = emptyFolder(`reports/${name}/test`);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, 'vitest.config.ts'), 'export default {};\n');
  const args = [vitest, 'run', '--reporter=json', '--outputFile=report.json'];
  await new Promise<void>((resolve) => execFile(process.execPath, args, { cwd: folder }, () => resolve()));
  return readFileSync(join(folder, 'report.json'), 'utf8');
}
