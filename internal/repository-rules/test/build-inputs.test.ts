/** A test with an input that turbo does not know passes from the cache even after that input has changed. */
import { describe, expect, test } from 'vitest';
import { untrackedInputs } from '../src/build-inputs.ts';
import { workspacePackages } from '../src/manifests.ts';
import { repositoryFiles } from '../src/repository.ts';

const packages = workspacePackages().filter(
  ({ folder, manifest }) => folder !== '' && manifest.scripts?.['test'] !== undefined,
);

test.each(packages.map((one) => [one.folder, one] as const))(
  'turbo knows every file that %s reads outside of its folder',
  (_folder, one) => {
    expect(untrackedInputs(one, workspacePackages(), repositoryFiles())).toEqual([]);
  },
);

describe('controls', () => {
  const one = {
    folder: 'packages/one',
    manifest: { name: 'one', devDependencies: { two: 'workspace:*' } },
  };
  const two = { folder: 'packages/two', manifest: { name: 'two' } };
  const problems = (text: string, config?: string): readonly string[] =>
    untrackedInputs(
      one,
      [one, two],
      [
        { path: 'turbo.json', text: '{ "globalDependencies": ["tsconfig.base.json"], "tasks": {} }' },
        { path: 'packages/one/test/a.test.ts', text },
        { path: 'packages/two/src/b.ts', text: '' },
        { path: 'packages/three/src/c.ts', text: '' },
        { path: 'tsconfig.base.json', text: '' },
        { path: 'vitest.shared.ts', text: '' },
        { path: 'docs/d.md', text: '' },
        ...(config === undefined ? [] : [{ path: 'packages/one/turbo.json', text: config }]),
      ],
    );

  test.each([
    ["import '../../../vitest.shared.ts';", 'vitest.shared.ts'],
    ["readFileSync(new URL('../../../docs/d.md', import.meta.url))", 'docs/d.md'],
    ["join(import.meta.dirname, '..', '..', '..', 'docs', 'd.md')", 'docs/d.md'],
    ["import { c } from '../../three/src/c.ts';", 'packages/three/src/c.ts'],
    ['cwd: `../../three`', 'packages/three'],
    ["const root = join(import.meta.dirname, '../../..');", 'the root'],
    ["const root = join(here, '..', '..', '..');", 'the root'],
  ])('%s is reported', (text, target) => {
    expect(problems(text)).toEqual([`packages/one/test/a.test.ts reads ${target}`]);
  });

  test.each([
    "import '../src/a.ts'; import '../../two/src/b.ts';",
    '"extends": "../../../tsconfig.base.json"',
    "join(here, '..', 'src'); '../../../gone.ts'; 'a/../b'; '...'",
  ])('%s is not reported', (text) => {
    expect(problems(text)).toEqual([]);
  });

  test('an input of turbo.json is known, and so is everything where tests are not cached', () => {
    const text = "read('../../../docs/d.md'); read('../../..'); read('../../../vitest.shared.ts');";
    const inputs =
      '{ "tasks": { // why\n"test": { "inputs": ["$TURBO_DEFAULT$", "$TURBO_ROOT$/docs/*.md"] } } }';
    expect(problems(text, inputs.replace('// why\n', '\n// why\n'))).toEqual([
      'packages/one/test/a.test.ts reads vitest.shared.ts',
    ]);
    expect(problems(text, '{ "tasks": { "test": { "cache": false } } }')).toEqual([]);
  });
});
