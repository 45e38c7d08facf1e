/** The tables of docs/answers.md match the answers that the conformance suite requires of every adapter. */
import { ANSWERS } from '@payment-service/conformance';
import { expect, test } from 'vitest';
import { section, tableRows } from '../../src/markdown.ts';
import { fileAt, filesMatching } from '../../src/repository.ts';

const { passedThrough: _, ...own } = ANSWERS;
/** In the format of the table: `401 {"error":"unauthorized"}`, or only a status. */
const answers: ReadonlySet<string> = new Set([
  ...Object.values(own).map(({ status, body }) => `${status} ${body}`),
  // The sender is gone, so the suite reads no answer, but a test of core does.
  '400 {"error":"request_aborted"}',
]);

test('the table of answers to the service matches what every adapter answers', () => {
  const table = documented(section(fileAt('docs/answers.md').text, '## To the service'));
  expect([...table].sort()).toEqual([...answers].sort());
});

test('every answer in the source of core is required by the conformance suite', () => {
  const text = filesMatching('packages/core/src/receive/*.ts').map((file) => file.text);
  const calls = text.join('\n').matchAll(/(?:Reply\([^)[]*|\[\d{3}, )'([a-z_]+)'/g);
  const named = [...new Set([...calls].map(([, name]) => name))];
  expect(named.length).toBeGreaterThan(7);
  expect(named.filter((name) => ![...answers].some((answer) => answer.includes(`"${name}"`)))).toEqual([]);
});

test('troubleshooting has every code of a refusal', () => {
  const texts = ['verify/refusal.ts', 'receive/receiver.ts'].map((path) => {
    const [, hints = ''] =
      /^(?:export )?const HINTS\b[^=]*= \{\n(.*?)^\}/ms.exec(fileAt(`packages/core/src/${path}`).text) ?? [];
    return hints;
  });
  const codes = texts.flatMap((text) => [...text.matchAll(/^ {2}([a-z_]+):/gm)].map(([, code = '']) => code));
  expect(codes.length).toBeGreaterThan(15);
  const { text } = fileAt('docs/troubleshooting.md');
  expect(codes.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
});

/** Rows of a table whose first two columns are a status and a body. */
function documented(markdown: string): ReadonlySet<string> {
  const rows = tableRows(markdown).filter(([status = '']) => /^`?\d{3}`?$/.test(status));
  return new Set(rows.map(([status = '', body = '']) => `${status} ${body}`.replaceAll('`', '').trim()));
}
