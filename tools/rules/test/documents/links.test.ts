import { posix } from 'node:path';
import { ConfigurationError } from '@payment-service/core';
import { explain, explainOutcome } from '@payment-service/core/explain';
import { expect, test } from 'vitest';
import { anchors, prose } from '../../src/markdown.ts';
import { fileAt, filesMatching, repositoryFiles, type TextFile } from '../../src/repository.ts';

/**
 * The links of a document that lead nowhere, anchors included: relative ones, and those to this repository on the web.
 * Files move, and documents do not notice. A link to another place counts as broken: no test without a network can check
 * it, and a reader offline cannot follow it.
 *
 * @param homepage the repository on the web.
 */
function brokenLinks(document: TextFile, files: readonly TextFile[], homepage: string): readonly string[] {
  return linkTargets(document.text).flatMap((target) => {
    const isOurs = target.startsWith(`${homepage}/`);
    if (!isOurs && /^[a-z][a-z+.-]*:/i.test(target)) return [`${document.path}: ${target} is elsewhere`];
    const own = isOurs ? target.slice(homepage.length).replace(/^\/(blob|tree|raw)\/main\//, '/') : target;
    const [path = '', anchor] = decodeURI(own).split('#');
    const resolved = path === '' ? document.path : inRepository(document.path, path);
    return leadsSomewhere(resolved.replace(/\/$/, ''), anchor, files) ? [] : [`${document.path}: ${target}`];
  });
}

function inRepository(document: string, path: string): string {
  return path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(document), path);
}

function linkTargets(markdown: string): readonly string[] {
  const text = prose(markdown).replace(/`[^`\n]*`/g, '`code`');
  const inline = text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  const definitions = text.matchAll(/^\[[^\]]+\]:\s*<?(\S+?)>?(?:\s|$)/gm);
  return [...inline, ...definitions].map(([, target = '']) => target);
}

function leadsSomewhere(path: string, anchor: string | undefined, files: readonly TextFile[]): boolean {
  const isThere =
    path === '.' || files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
  if (!isThere || anchor === undefined) return isThere;
  const page = files.find((file) => file.path === path || file.path === posix.join(path, 'README.md'));
  return page !== undefined && anchors(page.text).has(anchor);
}

const documents = filesMatching('**/*.md', '*.md');
const { homepage }: { homepage: string } = JSON.parse(fileAt('package.json').text);

test.each(documents.map((document) => [document.path, document] as const))(
  'every link of %s leads to a file or a heading of the repository',
  (_path, document) => {
    expect(brokenLinks(document, repositoryFiles(), homepage)).toEqual([]);
  },
);

test('the addresses that errors and explanations name lead to a file or a heading of the repository', () => {
  const request = { headers: {}, body: '' };
  const named = [
    new ConfigurationError('port', 'wrong').docs,
    explain(request, { signingKey: 'RULES4SIGNING4KEY' }).docs,
    explainOutcome({ request: { ...request, url: 'http://127.0.0.1/' }, error: 'ECONNREFUSED' }).docs,
  ];
  expect(new Set(named).size).toBe(named.length);
  const text = named.map((address) => `[page](${address})`).join('\n');
  expect(text.match(/docs\//g)).toHaveLength(named.length);
  expect(brokenLinks({ path: 'errors.md', text }, repositoryFiles(), homepage)).toEqual([]);
});

test.each(['guide', 'handbook'])(
  'the %s lists each of its pages in a line that begins with the link: the navigation of the site is made of these lines',
  (folder) => {
    const { text } = fileAt(`docs/${folder}/README.md`);
    const listed = [...text.matchAll(/^- \[[^\]]+\]\((\w[\w-]+\.md)\)/gm)];
    const pages = filesMatching(`docs/${folder}/*.md`).filter(({ path }) => !path.endsWith('/README.md'));
    expect(listed.map(([, page]) => `docs/${folder}/${page}`).sort()).toEqual(
      pages.map(({ path }) => path).sort(),
    );
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
