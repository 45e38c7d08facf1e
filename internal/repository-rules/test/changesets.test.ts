/** Users read the changesets of a release, and packages get their versions from them. */
import { expect, test } from 'vitest';
import { publishedPackages } from '../src/manifests.ts';
import { fileAt, filesMatching } from '../src/repository.ts';
import { changesetProblems } from '../src/shape/changeset-problems.ts';

test('every changeset names published packages and holds a sentence, and every new package has one', () => {
  const changesets = filesMatching('.changeset/*.md');
  expect(changesetProblems(changesets, publishedPackages())).toEqual([]);
});

test('all published packages are versioned as one', () => {
  const { fixed } = JSON.parse(fileAt('.changeset/config.json').text) as { fixed: unknown };
  expect(fixed).toEqual([publishedPackages().map(({ manifest }) => manifest.name)]);
});

test('control: a private package, an unknown version step, an empty sentence and a forgotten package are reported', () => {
  const changeset = (path: string, front: string, sentence: string): { path: string; text: string } => ({
    path,
    text: `---\n${front}\n---\n\n${sentence}\n`,
  });
  const packages = ['@a/core', '@a/koa'].map((name) => ({
    folder: name,
    manifest: { name, version: '0.0.0' },
  }));
  const changesets = [
    changeset('good.md', "'@a/core': minor", 'A sentence.'),
    changeset('private.md', "'@a/private': minor", 'A sentence.'),
    changeset('step.md', "'@a/core': big", 'A sentence.'),
    changeset('empty.md', '', ''),
  ];
  expect(changesetProblems(changesets, packages)).toEqual([
    'private.md: @a/private is not published',
    'step.md: "big" is not a version step',
    'empty.md: it names no package',
    'empty.md: it holds no sentence for users',
    '@a/koa has no version, and no changeset gives it one',
  ]);
});
