import { expect, test } from 'vitest';
import { brokenLinks } from '../../src/documents/broken-links.ts';
import { missingPaths } from '../../src/documents/missing-paths.ts';
import { rootManifest, workspacePackages } from '../../src/manifests.ts';
import { filesMatching, repositoryFiles } from '../../src/repository.ts';

const documents = filesMatching('**/*.md', '*.md');
const { homepage = '' } = rootManifest();
const packageNames = workspacePackages().map(({ manifest }) => manifest.name);

test('the documents to check include README.md', () => {
  expect(documents.map(({ path }) => path)).toContain('README.md');
});

test.each(documents.map((document) => [document.path, document] as const))(
  'every link of %s leads to a file or a heading of the repository',
  (_path, document) => {
    expect(brokenLinks(document, repositoryFiles(), homepage)).toEqual([]);
  },
);

test.each(documents.map((document) => [document.path, document] as const))(
  'every path and package that %s names exists',
  (_path, document) => {
    expect(missingPaths(document, repositoryFiles(), packageNames)).toEqual([]);
  },
);

test('control: links to missing files, missing headings and other places are reported, good ones are not', () => {
  const other = { path: 'packages/core/README.md', text: '# Core\n\n## The `raw` body\n' };
  const page = {
    path: 'docs/page.md',
    text: [
      '# A page',
      '[good](../packages/core#the-raw-body) [good](#a-page) [far](https://example.com) `[code](nowhere.md)`',
      '[no file](../packages/core/HISTORY.md) [no heading](../packages/core/README.md#the-body) [none](#nothing)',
      '```md',
      '[in a block](nowhere.md)',
      '```',
      '[definition]: ./nowhere.md',
      '[good](https://our.example/repo/blob/main/packages/core/README.md) [gone](https://our.example/repo/blob/main/gone.md)',
    ].join('\n'),
  };
  expect(brokenLinks(page, [page, other], 'https://our.example/repo')).toEqual([
    'docs/page.md: https://example.com is elsewhere',
    'docs/page.md: ../packages/core/HISTORY.md',
    'docs/page.md: ../packages/core/README.md#the-body',
    'docs/page.md: #nothing',
    'docs/page.md: https://our.example/repo/blob/main/gone.md',
    'docs/page.md: ./nowhere.md',
  ]);
});

test('control: missing paths and packages are reported', () => {
  const files = ['packages/core/src/index.ts', 'docs/page.md'].map((path) => ({ path, text: '' }));
  const text =
    '`packages/core` `packages/none` `src/index.ts` `src/none.ts` `@payment-service/none` `a/b` `x => y/z`';
  expect(missingPaths({ path: 'docs/page.md', text }, files, ['@payment-service/core'])).toEqual([
    'docs/page.md: packages/none',
    'docs/page.md: src/none.ts',
    'docs/page.md: @payment-service/none',
  ]);
});
