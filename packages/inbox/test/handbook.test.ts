/** The operator's handbook has the words of the console and of the command, a card for each reason, and a row for each alarm. */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ACT_NAMES } from '../src/operator/acts/action-log.ts';
import type { ActedOn } from '../src/operator/acts/offers.ts';
import { actsOf, OPERATIONS } from '../src/operator/acts/operations.ts';
import { adviceOf, PAYMENT_LABELS } from '../src/operator/payments/advice.ts';
import type { TransitionReason, TransitionState } from '../src/states.ts';
import { PAYMENT_STATES, type PaymentState } from '../src/verdict/payment-state.ts';
import { EVIDENCE_WORDS, REASON_WORDS, SHOWN_STATES, STATE_WORDS, type Words } from '../src/words.ts';
import { tableOf } from './support/tables.ts';

const ROOT = join(import.meta.dirname, '../../..');
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const pageOf = (name: string): string => textOf(`docs/handbook/${name}.md`);
const code = (text: string): string => `\`${text}\``;
/** Lines are wrapped. */
const unwrapped = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const CARD_STATES: readonly TransitionState[] = ['quarantined', 'conflict', 'dead', 'unhandled'];
/** What a refusal code of evidence is, in the list of the cards. */
const EVIDENCE: TransitionReason = 'timestamp_out_of_tolerance';
const CARDS: readonly (readonly [TransitionReason, Words & { readonly state: TransitionState }])[] = [
  ...Object.entries(REASON_WORDS).filter(([, { state }]) => CARD_STATES.includes(state)),
  [EVIDENCE, { ...EVIDENCE_WORDS, state: 'quarantined' as const }] as const,
].map(([reason, words]) => [reason as TransitionReason, words]);

test('the handbook has the states in the words of the console and of the command', () => {
  expect(pageOf('README')).toContain(paymentsTable());
});

test('the handbook has a card for each reason that a person can end, in the words of the console and of the command', () => {
  const [, list = ''] = pageOf('held').split('\n## The cards\n');
  const [cards = '', rest = ''] = list.split('\n## Reports that wait for no person\n');
  const headings = [...cards.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading);
  expect(headings.toSorted()).toEqual(CARDS.map(([, { heading }]) => heading).toSorted());
  for (const [reason, { heading, meaning, todo }] of CARDS) {
    const name = reason === EVIDENCE ? 'A refusal code' : code(reason);
    expect(unwrapped(cards)).toContain(
      unwrapped(`### ${heading} ${name}: ${meaning} - **Do:** ${todo} - **Ask** `),
    );
  }
  expect(rest).toContain(restTable());
});

test('each act on a card has the label of its button and its verb, and the payment offers it', () => {
  for (const [reason, { heading, state }] of CARDS) {
    const [, card = ''] = pageOf('held').split(`\n### ${heading}\n`);
    const acts = [...unwrapped(card.split('\n##')[0] ?? '').matchAll(/"([^"]+)" \(`([a-z-]+)`\)/g)];
    expect(acts, reason).not.toEqual([]);
    for (const [, label, verb] of acts) {
      const act = ACT_NAMES.find((name) => OPERATIONS[name].label === label);
      expect([reason, act && OPERATIONS[act].verb]).toEqual([reason, verb]);
      expect([reason, ...offeredOn(reason, state)]).toContain(act);
    }
  }
});

test('the handbook says what each alert, each problem of health and each check of doctor means', () => {
  const page = pageOf('alerts');
  const namesIn = (path: string, pattern: RegExp): string[] =>
    [...textOf(path).matchAll(pattern)].map(([, name = '']) => name);
  const health = textOf('packages/inbox/src/operator/health.ts').split('/** Options of')[0] ?? '';
  const doctor = readdirSync(join(ROOT, 'packages/inbox/src/command/doctor')).map(
    (name) => `packages/inbox/src/command/doctor/${name}`,
  );
  const checks = [...doctor, 'packages/inbox/src/work/due-checks.ts'].flatMap((path) => [
    ...namesIn(path, /(?:problem|notice)`(\w+):/g),
    ...namesIn(path, /check\('(\w+)'/g),
  ]);
  const named = [
    ...namesIn('docs/monitoring/alerts.yaml', /alert: (\w+)/g),
    ...[...health.matchAll(/^ {2}\| '(\w+)'/gm)].map(([, name = '']) => name),
    ...checks,
  ];
  expect(new Set(named).size).toBeGreaterThan(30);
  const [, ...firstCells] = page.split('\n| ').map((row) => row.split(' | ')[0]);
  expect(named.filter((name) => !firstCells.some((cell) => cell?.includes(code(name))))).toEqual([]);
});

test('each button, field and heading that the handbook quotes is in the source of the console', () => {
  const sources = [
    'packages/inbox/src/{console,operator}/**/*.ts',
    'packages/inbox/src/words.ts',
    'packages/pages/src/**/*',
  ];
  const shown = globSync(sources, { cwd: ROOT, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    .join('\n');
  const pages = globSync('docs/handbook/*.md', { cwd: ROOT }).map((path) =>
    unwrapped(textOf(path).replaceAll(/```[\s\S]*?```|`[^`]*`/g, '')),
  );
  // A sentence is what a person says.
  const quoted = pages.flatMap((page) =>
    [...page.matchAll(/"([A-Z][^".?]*)"/g)].map(([, label = '']) => label),
  );
  expect(new Set(quoted).size).toBeGreaterThan(25);
  expect(quoted.filter((label) => !shown.includes(label.replace(/ all…$/, '')))).toEqual([]);
});

test('the handbook lists each permission of the console', () => {
  const [, table = ''] = pageOf('access').split('\n| in `may` |');
  const listed = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual(['read', 'bodies', 'reconcile', ...ACT_NAMES].toSorted());
});

/** What can be done with a payment that such a report holds. */
function offeredOn(reason: TransitionReason, state: TransitionState): string[] {
  const money = { currency: 'UGX', amount: '500' };
  const isPaid = ['unnamed_after_paid', 'transition_not_allowed', 'paid_by_another', 'already_settled'];
  const claim = { currency: 'UGX', amount: '300' };
  const report = {
    ...{ transitionId: 'a', state, reason, isArchived: false, wasApplied: false },
    signed: { transaction_status: 'COMPLETED', merchant_reference: 'ORD-1', internal_reference: 'INT-1' },
    bodies: [{ digest: 'b', request: claim, transaction: claim }],
  };
  const payment = {
    ...{ merchant_reference: 'ORD-1', transaction_type: 'COLLECTION', state: 'held', revision: 'r' },
    ...{ isArchived: false, isCanceled: reason === 'canceled', reports: [report] },
    expected: reason === 'no_expectation' ? undefined : { ...money, compare: 'both' },
    settled: isPaid.includes(reason) ? { ...money, report: 'c' } : undefined,
  };
  return actsOf(payment as unknown as ActedOn).map(({ name }) => name);
}

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

/** The states and reasons of reports that no card is about. */
function restTable(): string {
  const rows = SHOWN_STATES.filter((state) => !CARD_STATES.includes(state)).flatMap((state) => {
    const reasons = Object.entries(REASON_WORDS).filter(([, words]) => words.state === state);
    const own: readonly (readonly [string, Words])[] =
      reasons.length === 0
        ? [['', STATE_WORDS[state]]]
        : reasons.map(([reason, words]) => [code(reason), words]);
    return own.map(([reason, { meaning, todo }]) => [code(state), reason, meaning, todo]);
  });
  return tableOf(['state', 'reason', 'what it means', 'what to do'], rows);
}
