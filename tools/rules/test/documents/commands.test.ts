import { expect, test } from 'vitest';
import { rootManifest } from '../../src/manifests.ts';
import { fencedBlocks, section } from '../../src/markdown.ts';
import { fileAt } from '../../src/repository.ts';

const { packageManager = '', scripts = {}, engines = {} } = rootManifest();

test('the two commands of the README for a clone are the scripts start and test, and CI runs the second', () => {
  const [block] = fencedBlocks(section(fileAt('README.md').text, '## From a clone'));
  const lines = block?.code
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s*#.*/, ''));
  expect(lines).toEqual([`npx -y ${packageManager} start`, `npx -y ${packageManager} test`]);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test']));
  expect(fileAt('.ci/run').text).toMatch(new RegExp(`^exec npx -y ${packageManager} test$`, 'm'));
});

test('README.md names the oldest Node that can start the commands', () => {
  expect(fileAt('README.md').text).toContain(`Node ${engines['node']?.replace('>=', '')} or later`);
});
