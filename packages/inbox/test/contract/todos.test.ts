import { expect, test } from 'vitest';
import { EVIDENCE_WORDS } from '../../src/words.ts';
import { ENGINES } from '../support/merchant.ts';
import { performTodos, untriedTodos } from '../support/todos.ts';

test('every reason that a person can end is tried, and the others say that there is nothing to do', () => {
  expect(untriedTodos()).toEqual([
    'Nothing: it changes no money.',
    'Nothing: it changes no money.',
    'Nothing: it was decided.',
  ]);
  expect(EVIDENCE_WORDS.todo).toContain('Apply it after all');
});

test.each(ENGINES)(
  'decision D77: on %s, what a reason tells an operator to do applies the money once, however often it is done',
  (engine) => performTodos(engine, 'api'),
);
