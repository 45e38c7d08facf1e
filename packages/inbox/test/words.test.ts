import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TRANSITION_STATES, type TransitionState } from '../src/states.ts';
import {
  EVIDENCE_WORDS,
  REASON_WORDS,
  SHOWN_STATES,
  STATE_WORDS,
  type Words,
  wordsOf,
} from '../src/words.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the table of states in the README has the words of the console and of the command', () => {
  expect(readme).toContain(statesTable());
});

test('every state has a description, and each reason belongs to one state', () => {
  expect(Object.keys(STATE_WORDS).sort()).toEqual([...TRANSITION_STATES].sort());
  for (const { state } of Object.values(REASON_WORDS)) expect(TRANSITION_STATES).toContain(state);
});

test('the code of a rule that refused a callback is described as evidence', () => {
  for (const reason of ['timestamp_out_of_tolerance', 'timestamp_unreadable'] as const) {
    expect(wordsOf({ state: 'quarantined', reason })).toBe(EVIDENCE_WORDS);
  }
  expect(wordsOf({ state: 'quarantined', reason: 'amount_mismatch' })).not.toBe(EVIDENCE_WORDS);
});

/** In Markdown. */
function statesTable(): string {
  const code = (text: string): string => `\`${text}\``;
  const row = (state: TransitionState, reason: string, { meaning, todo }: Words): string =>
    `| ${code(state)} | ${reason} | ${meaning} | ${todo} |`;
  const rows = SHOWN_STATES.flatMap((state) => {
    const reasons = Object.entries(REASON_WORDS).filter(([, words]) => words.state === state);
    return [
      ...(reasons.length === 0 ? [row(state, '', STATE_WORDS[state])] : []),
      ...reasons.map(([reason, words]) => row(state, code(reason), words)),
      ...(state === 'quarantined' ? [row(state, 'a refusal code', EVIDENCE_WORDS)] : []),
    ];
  });
  return ['| state | reason | what it means | what to do |', '|---|---|---|---|', ...rows].join('\n');
}
