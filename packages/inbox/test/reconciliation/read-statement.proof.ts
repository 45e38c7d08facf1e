import { expect, test } from 'vitest';
import { startChild } from '../support/child-process.ts';
import { expectSameRows } from '../support/statement-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SLOW = { timeout: 900_000 };

test(
  'a statement is read as the same rows in every separator, notation, encoding and layout',
  SLOW,
  async () => {
    await expectSameRows(1000);
  },
);

test('a statement of 20 MB is reconciled where its rows would not fit into the memory', SLOW, async () => {
  const run = (...more: string[]) => {
    const args = [`${temporaryFolder()}/shop.db`, '20000000', ...more];
    return startChild('long-statement.ts', args, ['env', 'NODE_OPTIONS=--max-old-space-size=40']).ended;
  };
  const { output, code } = await run();
  expect(output).toMatch(/"applied":2,"paid_without_callback":2,"not_expected":3\d{4},"malformed":0/);
  expect(code).toBe(0);
  // Control: a program that keeps the rows needs more.
  expect((await run('keep')).output).toContain('heap out of memory');
});
