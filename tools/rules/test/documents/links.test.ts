import { expect, test } from 'vitest';
import { brokenLinks } from '../../src/documents/broken-links.ts';
import { rootManifest } from '../../src/manifests.ts';
import { filesMatching, repositoryFiles } from '../../src/repository.ts';

const documents = filesMatching('**/*.md', '*.md');
const { homepage = '' } = rootManifest();

test('the documents to check include README.md', () => {
  expect(documents.map(({ path }) => path)).toContain('README.md');
});

test.each(documents.map((document) => [document.path, document] as const))(
  'every link of %s leads to a file or a heading of the repository',
  (_path, document) => {
    expect(brokenLinks(document, repositoryFiles(), homepage)).toEqual([]);
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
