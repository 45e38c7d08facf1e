import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACT_NAMES } from '../src/operator/acts/action-log.ts';
import { OPERATIONS } from '../src/operator/acts/operations.ts';
import { adviceOf, PAYMENT_LABELS } from '../src/operator/payments/advice.ts';
import { STATEMENT_VERDICTS } from '../src/reconciliation/statement-report.ts';
import type { TransitionState } from '../src/states.ts';
import { PAYMENT_STATES, type PaymentState } from '../src/verdict/payment-state.ts';
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
const guide = readFileSync(new URL('../../../docs/guide/reconciliation.md', import.meta.url), 'utf8');

test('the tables of states, acts and reasons in the README have the words of the console and of the command', () => {
  for (const table of [paymentsTable(), actsTable(), reasonsTable()]) expect(readme).toContain(table);
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
const tableOf = (names: readonly string[], rows: readonly (readonly string[])[]): string =>
  [names, names.map(() => '---'), ...rows]
    .map((row, index) => (index === 1 ? `|${row.join('|')}|` : `| ${row.join(' | ')} |`))
    .join('\n');

/** What a person reads about a payment of UGX 500 in each state. */
function paymentsTable(): string {
  const money = { currency: 'UGX', amount: '500' };
  const at = new Date('2026-01-31T08:30Z');
  const expected = { ...money, compare: 'both', deadline: new Date('2026-01-31T09:00Z') } as const;
  const rows = PAYMENT_STATES.map((state: PaymentState) => {
    const isSettled = state === 'paid' || state === 'reversed';
    const { sentence, todo, say } = adviceOf({
      ...{ merchant_reference: 'ORD-1001', transaction_type: 'COLLECTION', state, needs: undefined },
      expected: state === 'unexpected' ? undefined : expected,
      settled: isSettled ? { ...money, at, report: '' } : undefined,
      ...{ order: undefined, replaced: [], changedAt: at, isArchived: false },
    });
    expect(PAYMENT_LABELS[state].toLowerCase()).toBe(state);
    return [code(state), sentence, todo, say];
  });
  return tableOf(['state', 'what it means', 'what to do', 'what to tell the customer'], rows);
}

function actsTable(): string {
  const rows = ACT_NAMES.map((name) => {
    const { about, canCredit } = OPERATIONS[name];
    return [code(name), about, canCredit ? 'yes' : 'no'];
  });
  return tableOf(['act', 'what it does', 'can credit'], rows);
}

function reasonsTable(): string {
  const row = (state: TransitionState, reason: string, { meaning, todo }: Words): readonly string[] => [
    ...[code(state), reason, meaning, todo],
  ];
  const rows = SHOWN_STATES.flatMap((state) => {
    const reasons = Object.entries(REASON_WORDS).filter(([, words]) => words.state === state);
    return [
      ...(reasons.length === 0 ? [row(state, '', STATE_WORDS[state])] : []),
      ...reasons.map(([reason, words]) => row(state, code(reason), words)),
      ...(state === 'quarantined' ? [row(state, 'a refusal code', EVIDENCE_WORDS)] : []),
    ];
  });
  return tableOf(['state', 'reason', 'what it means', 'what to do'], rows);
}
