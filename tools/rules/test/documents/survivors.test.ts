/** The page of planted faults that no test finds quotes code: a line that is gone explains nothing. */
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { fileAt, repositoryFiles, type TextFile } from '../../src/repository.ts';

/** `- name.ts: the line`, both in backticks, with the change as «what was there → what was put there». */
const ENTRY = /^- `([\w.-]+)`: `+ ?(.*?) ?`+$/gm;
const oneSpace = (text: string): string => text.replace(/\s+/g, ' ');

/** Entries whose line is in no file of that name. */
function goneFrom(page: string, files: readonly TextFile[]): readonly string[] {
  return [...page.matchAll(ENTRY)].flatMap(([entry, name = '', line = '']) => {
    const own = files.filter(({ path }) => basename(path) === name).map(({ text }) => oneSpace(text));
    // Of a statement, the line begins with its name, and the fault says what of it is changed.
    const quoted = name.endsWith('.sql') ? (/«(.*?) → /.exec(line)?.[1] ?? '') : line;
    const before = oneSpace(quoted.replace(/«(.*?) → .*?»/g, '$1')).trim();
    // Long ones are cut.
    const parts = before.split('…');
    const isThere = own.some((text) => parts.every((part) => text.includes(part)));
    return isThere ? [] : [entry];
  });
}

test('every entry of survivors.md quotes a line that exists', () => {
  const page = fileAt('proofs/mutation/survivors.md').text;
  expect(page.match(ENTRY)?.length).toBeGreaterThan(50);
  const sources = repositoryFiles().filter(({ path }) => /^packages\/[^/]+\/(?:src|sql)\//.test(path));
  expect(goneFrom(page, sources)).toEqual([]);
  // Control.
  const files = [{ path: 'packages/a/src/a.ts', text: 'if (one  < 2) call();' }];
  expect(goneFrom('- `a.ts`: `if («one < 2 → one <= 2») call();`', files)).toEqual([]);
  expect(goneFrom('- `a.ts`: `if («one < 3 → one <= 3») call();`', files)).toHaveLength(1);
  expect(goneFrom('- `b.ts`: `if («one < 2 → one <= 2») call();`', files)).toHaveLength(1);
});

interface SqlFault {
  readonly file: string;
  readonly statement: string;
  readonly from: string;
}

/** Faults whose statement, or whose part of it, is not in its file. */
const notPlanted = (faults: readonly SqlFault[], textOf: (file: string) => string): readonly string[] =>
  faults
    .filter(({ file, statement, from }) => {
      const blocks = textOf(file).split(/^-- name: /m);
      return !blocks.some((block) => block.startsWith(statement) && block.includes(from));
    })
    .map(({ file, statement, from }) => `${file}: ${statement}: ${from}`);

test('every fault that is planted in SQL has a statement to be planted in', () => {
  const faults: readonly SqlFault[] = JSON.parse(fileAt('proofs/mutation/sql-faults.json').text);
  expect(faults.length).toBeGreaterThan(30);
  expect(notPlanted(faults, (file) => fileAt(`packages/inbox/sql/${file}`).text)).toEqual([]);
  const one = { file: 'a.sql', statement: 'find (sqlite', from: 'id = $1' };
  const text = '-- name: find (postgres)\nselect id = $1\n-- name: find (sqlite)\nselect id = ?';
  expect(notPlanted([one], () => text)).toEqual(['a.sql: find (sqlite: id = $1']);
});
