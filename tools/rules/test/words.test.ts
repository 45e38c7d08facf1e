/** One concept, one word; and no trace of the machine on which a file was written. */

import { expect, test } from 'vitest';
import { section, tableRows } from '../src/markdown.ts';
import { fileAt, repositoryFiles, type TextFile } from '../src/repository.ts';

/** Words that no file may contain, and what to say instead. */
type Words = readonly (readonly [pattern: RegExp, instead: string])[];

const MACHINE_NAMES: Words = [
  // A URL's path, a glob and a regular expression do not begin like this; /var/tmp exists on every Linux.
  [
    /(?<![\w.:*/)\\-])(?!\/var\/tmp\b)\/(?:home|Users|root|tmp|work|var|opt|mnt)\/[\w.]/,
    'no folder of one machine',
  ],
  [/(?<![\w/])~\/[\w.]/, 'no folder of one machine'],
  [/\b[A-Z]:\\\w/, 'no folder of one machine'],
  // The registry's host depends on the machine that installs.
  [/\b(?:registry|npm|packages?|mirror)\.[a-z][\w-]*\.[a-z]{2,}/i, 'no host of a registry'],
  [/\b(?:unpkg|jsdelivr|npmmirror|npmjs|(?<!@)yarnpkg|jfrog)\b(?!\s+\d)/i, 'no host of a registry'],
];

/**
 * Words of the column "we do not say" that also have an ordinary meaning. They are wrong only if they replace the word next to
 * them, which a reader must judge.
 */
const ORDINARY = ['return', 'callback', 'secret', 'payload', 'trusted data', 'event id', 'order'];

/** The words that the glossary excludes. */
function excludedWords(glossary: string): Words {
  const words = tableRows(glossary).flatMap(([say = '', , never = '']) =>
    never.split(',').map((word) => [word.trim(), say] as const),
  );
  return words
    .filter(([word]) => word !== '' && !ORDINARY.includes(word))
    .map(([word, say]) => [new RegExp(`(?<![a-z])${word.split(' ').join('[ _-]?')}`, 'i'), say]);
}

/** Names of other projects, and an event of `pg`. */
const PERMITTED =
  /@octokit\/webhooks(?:-methods)?|standardwebhooks|Standard Webhooks|webhooks\.constructEvent|['"]notification['"]/g;

/** The lines of a file that contain one of the words. */
function saidIn({ path, text }: TextFile, words: Words): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const rest = line.replace(PERMITTED, '');
    return words.flatMap(([pattern, instead]) => {
      const [found] = pattern.exec(rest) ?? [];
      return found === undefined ? [] : [`${path}:${index + 1}: "${found}" (${instead})`];
    });
  });
}

const glossary = section(fileAt('docs/glossary.md').text, '## The words');
const excluded = excludedWords(glossary);
// The rule itself must name the words.
const OWN = /^tools\/rules\/test\/words\.test\.ts$/;
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

test('control: an excluded word is found in every spelling, and not inside another word or in the name of a peer', () => {
  const text = 'apiKey\nAPI_KEY\nan api-key\nan IPN\nrapid keys\nequipn\n@octokit/webhooks\na webhook\n';
  expect(saidIn({ path: 'a.md', text }, excluded).map((line) => line.split(' (')[0])).toEqual([
    'a.md:1: "apiKey"',
    'a.md:2: "API_KEY"',
    'a.md:3: "api-key"',
    'a.md:4: "IPN"',
    'a.md:8: "webhook"',
  ]);
});

test('control: paths and hosts are reported, URLs and regular expressions are not', () => {
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
