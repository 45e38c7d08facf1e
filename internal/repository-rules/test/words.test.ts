/** One concept, one word; and no trace of the machine that a file was written on. */
import { describe, expect, test } from 'vitest';
import { section } from '../src/markdown.ts';
import { fileAt, repositoryFiles } from '../src/repository.ts';
import { forbiddenWords, saidIn } from '../src/words/forbidden-words.ts';
import { machineNames } from '../src/words/machine-names.ts';
import { oddEnglish } from '../src/words/plain-english.ts';

const glossary = section(fileAt('docs/glossary.md').text, '## The words');
const words = forbiddenWords(glossary);
// The rule itself has to name the words.
const OWN = ['internal/repository-rules/src/words/', 'internal/repository-rules/test/words.test.ts'];
const files = repositoryFiles().filter(
  ({ path }) => path !== 'pnpm-lock.yaml' && !OWN.some((own) => path.startsWith(own)),
);

test('no file uses a word that the glossary excludes', () => {
  const withoutGlossary = files.map(({ path, text }) => ({ path, text: text.replace(glossary, '') }));
  expect(withoutGlossary.flatMap((file) => saidIn(file, words))).toEqual([]);
});

test('no file names a registry host or a folder of a machine', () => {
  expect(files.flatMap(machineNames)).toEqual([]);
});

test('no file uses the odd English of the table', () => {
  expect(files.flatMap(oddEnglish)).toEqual([]);
});

describe('controls', () => {
  test('odd English is found in comments, strings and names, and ordinary words are not', () => {
    const odd = [
      '// Nobody mends it.',
      "'The store is away.'",
      'const MOST_ROWS = 1;',
      'must be a text',
      'at once',
    ];
    expect(odd.map((text) => oddEnglish({ path: 'a.ts', text }).length)).toEqual([2, 1, 1, 1, 1]);
    const plain = [
      "provider: 'nobody'",
      'AT_MOST_ROWS',
      'as far as it must',
      'amended, recommended',
      'what came back',
    ];
    expect(plain.flatMap((text) => oddEnglish({ path: 'a.ts', text }))).toEqual([]);
  });

  test('the excluded words come from the glossary', () => {
    expect(words).toEqual([
      'webhook',
      'notification',
      'IPN',
      'tenant',
      'webhook secret',
      'api key',
      'token',
      'dead letter',
    ]);
  });

  test('an excluded word is found in every spelling, and not inside another word', () => {
    const text = 'apiKey\nAPI_KEY\nan api-key\nx.onIpn()\nrapid keys\nequipn\n';
    expect(saidIn({ path: 'a.ts', text }, ['api key', 'IPN'])).toEqual([
      'a.ts:1: api key',
      'a.ts:2: api key',
      'a.ts:3: api key',
      'a.ts:4: IPN',
    ]);
  });

  test("a peer's name is permitted in the benchmarks only", () => {
    const text = "import { verify } from '@octokit/webhooks-methods';";
    expect(saidIn({ path: 'docs/benchmarks.md', text }, words)).toEqual([]);
    expect(saidIn({ path: 'packages/core/src/index.ts', text }, words)).toHaveLength(1);
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
    expect(machineNames({ path: 'a.md', text })).toEqual([
      'a.md:1: /home/s',
      'a.md:2: ~/s',
      'a.md:3: C:\\U',
      'a.md:4: registry.example.org',
      'a.md:5: unpkg',
    ]);
  });
});
