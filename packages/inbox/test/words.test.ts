import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { STATEMENT_VERDICTS } from '../src/reconciliation/statement.ts';
import type { TransitionState } from '../src/states.ts';
import {
  BODY_WORDS,
  countText,
  EVIDENCE_WORDS,
  REASON_WORDS,
  SHOWN_STATES,
  STATE_WORDS,
  stateOf,
  WAITS_FOR_PERSON,
  type Words,
  wordsOf,
} from '../src/words.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the table of states in the README has the words of the console and of the command', () => {
  expect(readme).toContain(statesTable());
});

test('what an operator reads about states, reasons, bodies and statements is as written down', async () => {
  const words = {
    STATE_WORDS,
    REASON_WORDS,
    EVIDENCE_WORDS,
    BODY_WORDS,
    STATEMENT_VERDICTS,
    WAITS_FOR_PERSON,
  };
  await expect(`${JSON.stringify(words, null, 1)}\n`).toMatchFileSnapshot('words.txt');
  expect([stateOf('crash_loop'), stateOf('timestamp_unreadable')]).toEqual(['quarantined', 'quarantined']);
  expect(wordsOf({ state: 'settled', reason: undefined })).toBe(STATE_WORDS.settled);
  expect([countText(), countText(1000, 2), countText(10_000, 1)]).toEqual(['0', '1,002', '10,001+']);
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
