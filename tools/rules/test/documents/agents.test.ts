/** AGENTS.md, for programs that write programs: packed with every published package. */
import { expect, test } from 'vitest';
import { publishedPackages } from '../../src/manifests.ts';
import { section } from '../../src/markdown.ts';
import { fileAt } from '../../src/repository.ts';

const texts = publishedPackages().map(({ folder }) => fileAt(`${folder}/AGENTS.md`).text);

test('every published package has the same rules and the same commands for agents', () => {
  for (const heading of ['## The rules', '## Before you call it done'])
    expect(new Set(texts.map((text) => section(text, heading))).size).toBe(1);
});

test('the rules say what is not signed, what never to sign, which calls credit, and what does not exist', () => {
  const rules = section(texts[0] ?? '', '## The rules');
  for (const part of [
    'amount is unsigned',
    'Never sign or hash `t.body`',
    '`assertAmount(',
    '`settled`',
    'does not start',
  ])
    expect(rules).toContain(part);
});
