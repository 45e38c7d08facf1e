/** One concept, one word; and no trace of the machine on which a file was written. */
import { describe, expect, test } from 'vitest';
import { section } from '../src/markdown.ts';
import { fileAt, repositoryFiles } from '../src/repository.ts';
import { excludedWords, MACHINE_NAMES, saidIn } from '../src/words.ts';

const glossary = section(fileAt('docs/glossary.md').text, '## The words');
const excluded = excludedWords(glossary);
// The rule itself must name the words.
const OWN = /^tools\/rules\/(src\/words|test\/words\.test)\.ts$/;
const files = repositoryFiles().filter(({ path }) => path !== 'pnpm-lock.yaml' && !OWN.test(path));

test('no document, message, changeset or exported name uses a word that the glossary excludes', () => {
  const documents = files.filter(({ path }) => path.endsWith('.md'));
  expect(documents.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['packages/messages.md', 'packages/core/api/index.api.md']),
  );
  const withoutGlossary = documents.map(({ path, text }) => ({ path, text: text.replace(glossary, '') }));
  expect(withoutGlossary.flatMap((file) => saidIn(file, excluded))).toEqual([]);
});

test('no file names a registry host or a folder of a machine', () => {
  expect(files.flatMap((file) => saidIn(file, MACHINE_NAMES))).toEqual([]);
});

describe('controls', () => {
  test('an excluded word is found in every spelling, and not inside another word or in the name of a peer', () => {
    const text = 'apiKey\nAPI_KEY\nan api-key\nan IPN\nrapid keys\nequipn\n@octokit/webhooks\na webhook\n';
    expect(saidIn({ path: 'a.md', text }, excluded).map((line) => line.split(' (')[0])).toEqual([
      'a.md:1: "apiKey"',
      'a.md:2: "API_KEY"',
      'a.md:3: "api-key"',
      'a.md:4: "IPN"',
      'a.md:8: "webhook"',
    ]);
  });

  test('paths and hosts are reported, URLs and regular expressions are not', () => {
    const text = [
      'cd /home/sdk',
      'see ~/sdk',
      '"C:\\Users"',
      'https://registry.example.org/zod',
      'https://unpkg.com/zod',
      'https://service.example/home/page',
      "get('/data/wallet-balances')",
    ].join('\n');
    expect(saidIn({ path: 'a.md', text }, MACHINE_NAMES).map((line) => line.split(' (')[0])).toEqual([
      'a.md:1: "/home/s"',
      'a.md:2: "~/s"',
      'a.md:3: "C:\\U"',
      'a.md:4: "registry.example.org"',
      'a.md:5: "unpkg"',
    ]);
  });
});
