import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACT_NAMES } from '../src/operator/acts/action-log.ts';
import { OPERATIONS } from '../src/operator/acts/operations.ts';
import { STATEMENT_VERDICTS } from '../src/reconciliation/statement-report.ts';
import { PAYMENT_STATES } from '../src/verdict/payment-state.ts';
import {
  BODY_WORDS,
  countText,
  EVIDENCE_WORDS,
  REASON_WORDS,
  STATE_WORDS,
  stateOf,
  WAITS_FOR_PERSON,
  wordsOf,
} from '../src/words.ts';
import { tableOf } from './support/tables.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const guide = readFileSync(new URL('../../../docs/guide/reconciliation.md', import.meta.url), 'utf8');

test('the table of acts in the README has the words of the console and of the command, and its table of states has each', () => {
  expect(readme).toContain(actsTable());
  for (const state of PAYMENT_STATES) expect(readme).toContain(`\n| ${code(state)} | `);
});

test('the table of verdicts on a statement in the guide has the words of the console and of the command', () => {
  const rows = Object.entries(STATEMENT_VERDICTS).map(([verdict, { is = '', isClean, meaning }]) => [
    ...[code(verdict), is.replaceAll('_', ' '), meaning, isClean ? 'yes' : 'no'],
  ]);
  expect(guide).toContain(tableOf(['verdict', 'the line is', 'what it means', 'clean'], rows));
});

test('the README speaks of transitions and bodies only from "Evidence" on', () => {
  const [before = '', evidence = ''] = readme.split('\n## Evidence\n');
  expect([/transition(?!_)|bod(?:y|ies)/i.exec(before), evidence.includes('bodies')]).toEqual([null, true]);
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

const code = (text: string): string => `\`${text}\``;

function actsTable(): string {
  const rows = ACT_NAMES.map((name) => {
    const { about, canCredit } = OPERATIONS[name];
    return [code(name), about, canCredit ? 'yes' : 'no'];
  });
  return tableOf(['act', 'what it does', 'can credit'], rows);
}
