/** The documents show only command lines that the command accepts, and every verb. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/operator/acts/operations.ts';
import { runCommand, SESSION, wordsIn } from '../support/command.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const README = 'packages/inbox/README.md';
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const HANDBOOK = globSync('docs/handbook/*.md', { cwd: ROOT }).toSorted();
const SHOWN = [README, ...HANDBOOK].flatMap((path) =>
  (
    textOf(path)
      .replaceAll(/\\\n\s*/g, '')
      .match(/(?<=^ *npx payment-service-inbox ).*/gm) ?? []
  ).map((line) => ({ path, line })),
);
const OF_ACTS = ['type', 'internal-reference', 'report', 'revision', 'by', 'note'];
const OF_MANY = ['reason', 'until', 'limit'];

test.each(SHOWN)('the command accepts the options of this line of $path: $line', async ({ line }) => {
  const { code, stderr } = await runCommand([...wordsIn(line), '--database', 'missing.db']);
  expect(code, stderr).not.toBe(2);
});

test(
  'the README names each verb once, with its flags, and leads from an act to the table of acts',
  SESSION,
  async () => {
    const [, table = ''] = /^\| command \|(.*?)^\n/ms.exec(textOf(README)) ?? [];
    // A row may be about several acts. The table of acts says what each does: see words.test.ts.
    const rows = [...table.matchAll(/^\| (`.*?`) \| (.*) \|$/gm)].flatMap(([, names = '', does = '']) =>
      [...names.matchAll(/`([\w-]+)[^`]*`/g)].map(([, verb = '']) => ({ verb, does })),
    );
    const help = (await runCommand(['--help'])).stdout;
    const verbs = [...help.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, verb]) => verb);
    expect(rows.map(({ verb }) => verb).toSorted()).toEqual(
      verbs.filter((verb) => verb !== 'help').toSorted(),
    );
    const flagsIn = (text: string): string[] =>
      [...text.matchAll(/--([\w-]+)/g)].map(([, flag = '']) => flag);
    for (const { verb, does } of rows) {
      const { stdout } = await runCommand([verb, '--help']);
      const [options = ''] = stdout.replace(/^Usage.*$/m, '').split('\nGlobal Options:\n');
      const known = flagsIn(options);
      const act = Object.values(OPERATIONS).find((each) => each.verb === verb);
      const common =
        act === undefined ? [] : [...OF_ACTS, ...(['retry', 'close'].includes(verb) ? OF_MANY : [])];
      if (act !== undefined) expect(does).toContain('(#acts)');
      if (verb === 'reconcile') continue; // In the guide.
      const own = known.filter((flag) => flag !== 'help' && !common.includes(flag));
      expect([...new Set(own)].toSorted(), verb).toEqual(
        [...new Set(flagsIn(does))].filter((flag) => !common.includes(flag)).toSorted(),
      );
    }
  },
);

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(textOf('packages/inbox/package.json'));
  expect(await runCommand(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});
