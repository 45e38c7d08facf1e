/** The page of symptoms: a reader searches it for what was printed, so it must quote what is printed. */
import { expect, test } from 'vitest';
import { codeSpans, tableRows } from '../../src/markdown.ts';
import { fileAt, filesMatching } from '../../src/repository.ts';

const sources = filesMatching('packages/*/src/**/*.ts', 'docs/messages.md', 'README.md')
  .map(({ text }) => text)
  .join('\n');

/** Code in the first column of a table whose words, between "…", are in no source. */
function unknownMessages(page: string): readonly string[] {
  const quoted = tableRows(page).flatMap(([symptom = '']) => codeSpans(symptom));
  return quoted.filter((message) => message.split('…').some((part) => !sources.includes(part.trim())));
}

test('every message on the page of symptoms is printed by a package', () => {
  const { text } = fileAt('docs/troubleshooting.md');
  expect(tableRows(text).length).toBeGreaterThan(60);
  expect(unknownMessages(text)).toEqual([]);
});

test('control: a message that no package prints is reported', () => {
  expect(unknownMessages('| s | c |\n|---|---|\n| `mismatch` and `Is … the moon?` | x |\n')).toEqual([
    'Is … the moon?',
  ]);
});
