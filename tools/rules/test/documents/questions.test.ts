import { expect, test } from 'vitest';
import { openItems, questionProblems } from '../../src/documents/open-questions.ts';
import { fileAt } from '../../src/repository.ts';

const page = fileAt('docs/questions.md').text;
const protocol = fileAt('docs/protocol.md').text;

test('docs/questions.md asks about everything that the protocol does not show, and names existing options', () => {
  const mentions = protocol.split('**Not shown:**').length - 1;
  expect(new Set(openItems(protocol)).size).toBeGreaterThanOrEqual(mentions);
  expect(questionProblems(page, protocol)).toEqual([]);
});

test('control: a new gap, one that was closed, an unknown option and an empty cell are reported', () => {
  const document =
    '## 1. A\n\n**Not shown:** the one;\nthe other.\n\n### 2.1 B\n\n- **Not shown:** a third.\n\n**Not shown**. No.\n';
  const table = [
    '| question | not shown | until you know | the answer sets |',
    '|---|---|---|---|',
    '| One? | protocol §1: the one | it waits | `known`, `unknown` of `call()` |',
    '| Old? | protocol §2: the old |  | |',
    '',
    '```ts',
    'call({ known: 1 });',
    '```',
  ].join('\n');
  expect(questionProblems(table, document)).toEqual([
    'is not asked: protocol §1: the other',
    'is not asked: protocol §2.1: a third',
    'is not open: protocol §2: the old',
    'is not in the block: unknown',
    'says nothing until then: Old?',
  ]);
});
