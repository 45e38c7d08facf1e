/** On Windows, git writes CRLF unless .gitattributes says otherwise: the formatter would report every file. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { root } from '../src/repository.ts';

/** A line of `git ls-files --eol`: how the file is committed and, by its attributes, checked out. */
const SAME_EVERYWHERE = /^i\/(?:lf|none|-text) +w\/\S+ +attr\/(?:text=auto eol=lf|text eol=crlf|-text) *\t/;

test('every file has the same line ends in every checkout, and pictures are unchanged', () => {
  const lines = execFileSync('git', ['ls-files', '--eol'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n');
  expect(lines.length).toBeGreaterThan(1000);
  expect(lines.filter((line) => !SAME_EVERYWHERE.test(line))).toEqual([]);
});

test.each([
  'i/lf    w/lf    attr/                 \ta.ts',
  'i/lf    w/crlf  attr/text=auto        \ta.ts',
  'i/crlf  w/lf    attr/text=auto eol=lf \ta.ts',
  'i/mixed w/mixed attr/text=auto eol=lf \ta.ts',
])('control: %j is not', (line) => {
  expect(line).not.toMatch(SAME_EVERYWHERE);
});
