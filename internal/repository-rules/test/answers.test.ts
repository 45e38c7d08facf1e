/** The table of answers in the README matches what core answers. */
import { expect, test } from 'vitest';
import { coreAnswers } from '../src/answers.ts';
import { section, tableRows } from '../src/markdown.ts';
import { fileAt, filesMatching } from '../src/repository.ts';

const answers = await coreAnswers();

test("the README's table of answers matches what core answers", () => {
  expect([...documented(section(fileAt('README.md').text, '## Answers'))].sort()).toEqual(
    [...answers].sort(),
  );
});

test('every answer in the source of core was provoked by a request', () => {
  const text = filesMatching('packages/core/src/receive/*.ts').map((file) => file.text);
  const calls = text.join('\n').matchAll(/(?:Reply\([^)[]*|\[\d{3}, )'([a-z_]+)'/g);
  const named = [...new Set([...calls].map(([, name]) => name))];
  expect(named.length).toBeGreaterThan(7);
  expect(named.filter((name) => ![...answers].some((answer) => answer.includes(`"${name}"`)))).toEqual([]);
});

test.each(
  filesMatching('packages/*/README.md', 'apps/*/README.md').map(
    (document) => [document.path, document] as const,
  ),
)('every answer that %s names is one that core gives', (_path, { text }) => {
  const rows = [...documented(text)].filter((answer) => /^\d{3} \{"(error|status)":"\w+"\}$/.test(answer));
  expect(rows.filter((answer) => !answers.has(answer))).toEqual([]);
});

test('control: a missing or additional row changes the set of answers', () => {
  const table =
    '| status | body | when |\n|---|---|---|\n| 200 | `{"status":"accepted"}` | yes |\n| 303 | | on |\n';
  expect([...documented(table)]).toEqual(['200 {"status":"accepted"}', '303']);
  expect([...documented(table)].sort()).not.toEqual([...answers].sort());
});

/** Rows of a table whose first two columns are a status and a body. */
function documented(markdown: string): ReadonlySet<string> {
  const rows = tableRows(markdown).filter(([status = '']) => /^`?\d{3}`?$/.test(status));
  return new Set(rows.map(([status = '', body = '']) => `${status} ${body}`.replaceAll('`', '').trim()));
}
