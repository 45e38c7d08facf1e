/** AGENTS.md, for programs that write programs: packed with every published package. */
import { expect, test } from 'vitest';
import { section } from '../../src/markdown.ts';
import { fileAt } from '../../src/repository.ts';

test('the rules say what is not signed, what never to sign, which calls credit, and what does not exist', () => {
  const rules = section(fileAt('packages/core/AGENTS.md').text, '## The rules');
  for (const part of [
    'amount is unsigned',
    'Never sign or hash `t.body`',
    '`assertAmount(',
    '`settled`',
    'does not start',
  ])
    expect(rules).toContain(part);
});
