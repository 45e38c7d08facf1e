import { styleText } from 'node:util';
import { printable } from '@payment-service/core/internal';
import { sumOfProducts } from '@payment-service/core/reconcile';
import { spark } from '@payment-service/pages/spark';
import type { InboxStats, OverdueExpectation } from '../operator/health.ts';
import { DAY_MS, type DayTotal, type InboxHistory } from '../operator/history.ts';
import type { TransitionDetails, TransitionSummary } from '../operator/views.ts';
import { CLOSED_STATES, TRANSITION_STATES, type TransitionState } from '../states.ts';
import { BODY_WORDS, countText, wordsOf } from '../words.ts';
import type { StoredClaim } from '../work/verdict/evaluate.ts';

type Colour = 'red' | 'yellow' | 'green' | 'bold';
type Cell = string | readonly [text: string, colour: Colour];

/** Without colours in a pipe, and where NO_COLOR is set. */
export const coloured = (colour: Colour, text: string): string =>
  styleText(colour, text, { stream: process.stdout });

export function formatList(transitions: readonly TransitionSummary[]): string {
  if (transitions.length === 0) return 'No transitions.';
  return table(
    ['state', 'reason', 'merchant_reference', 'transaction_status', 'attempts', 'changed', 'id'],
    transitions.map((each) => [
      stateCell(each.state),
      each.reason ?? (each.isArchived ? 'in the archive' : ''),
      each.signed.merchant_reference,
      each.signed.transaction_status,
      String(each.attempts),
      time(each.changedAt),
      each.transitionId,
    ]),
  );
}

export function formatDetails(transition: TransitionDetails): string {
  const { signed, expectation, bodies, failures, actions, nextAt } = transition;
  const { heading, meaning, todo } = wordsOf(transition);
  const settledBy = expectation?.settledBy === undefined ? '' : `, settled by ${expectation.settledBy}`;
  const counts = [
    ['attempts', String(transition.attempts)],
    ['last error', transition.lastError ?? '-'],
    ['next attempt', nextAt === undefined ? '-' : time(nextAt)],
    ['first delivery', time(transition.firstAt)],
    ['deliveries', `${transition.deliveries}, and ${transition.refusedBodies} refused`],
  ];
  const facts = table(undefined, [
    ['id', transition.transitionId],
    ['revision', transition.revision],
    ['state', stateCell(transition.state)],
    ['reason', transition.reason ?? '-'],
    ['it means', `${heading}. ${meaning}`],
    ['to do', todo],
    ...Object.entries(signed),
    ['expected', expectation === undefined ? '-' : `${money(expectation)}${settledBy}`],
    ['last change', time(transition.changedAt)],
    ...(transition.isArchived ? [['archived', 'yes: its bodies and counts were removed']] : counts),
  ]);
  const bodyTables = bodies.map((body) => {
    const content = body.isSealed ? BODY_WORDS.sealed : body.text;
    const rows = [
      ['request', money(body.request)],
      ['transaction', money(body.transaction)],
      ['deliveries', `${body.deliveries}, from ${time(body.firstAt)} to ${time(body.lastAt)}`],
      ['key', body.keyId],
      ['refused by', body.refusal ?? '-'],
      ['settled', body.isSettled ? 'yes' : 'no'],
      ...(body.isUnsealed ? [['encrypted', BODY_WORDS.unsealed]] : []),
      ...(content === undefined ? [] : [['content', content]]),
    ];
    return `body ${body.digest}\n${table(undefined, rows)}`;
  });
  const failed = failures.map(({ attempt, at, error }) => [String(attempt), time(at), error]);
  const acted = actions.map(({ action, by, at, note }) => [action, by, time(at), note]);
  return paragraphs(
    facts,
    ...bodyTables,
    table(['failed attempt', 'at', 'error'], failed),
    table(['action', 'by', 'at', 'note'], acted),
  );
}

export function formatStats(
  stats: Omit<InboxStats, 'spooled'> & Partial<Pick<InboxHistory, 'from' | 'to' | 'settled'>>,
): string {
  const { states, reasons, archived, oldestDueSeconds, overdue, from, to, settled = [] } = stats;
  const ofStates = TRANSITION_STATES.map((state) => [
    states[state] === 0 ? state : stateCell(state),
    countText(states[state]),
  ]);
  const ofReasons = Object.entries(reasons).map(([reason, count]) => [reason, countText(count)]);
  return paragraphs(
    table(['state', 'transitions'], ofStates),
    archived > 0 ? `In the archive: ${archived}.` : '',
    table(['reason', 'transitions'], ofReasons),
    `The oldest due transition has waited ${Math.round(oldestDueSeconds)} s for a worker.
Overdue expectations: ${countText(overdue)}.`,
    from === undefined || to === undefined ? '' : formatDays(from, to, settled),
  );
}

/** One line for each currency and type; with its days as bars where they can be drawn. */
function formatDays(from: Date, to: Date, settled: readonly DayTotal[]): string {
  const days: number[] = [];
  for (let day = from.getTime(); day <= to.getTime(); day += DAY_MS) days.push(day);
  const kinds = Map.groupBy(settled, ({ currency, transaction_type }) => `${currency} ${transaction_type}`);
  const rows = [...kinds].map(([kind, same]) => {
    const ofDay = new Map(same.map(({ day, amount }) => [day.getTime(), Number(amount)]));
    const sum = sumOfProducts(same.map(({ amount }) => [amount, 1]));
    const payments = same.reduce((total, { count }) => total + count, 0);
    const bars = process.stdout.isTTY ? [spark(days.map((day) => ofDay.get(day) ?? 0))] : [];
    return [kind, ...bars, sum, `${payments} ${payments === 1 ? 'payment' : 'payments'}`];
  });
  const period = days.length === 1 ? 'today' : `in ${days.length} days`;
  if (rows.length === 0) return `Nothing was settled ${period} (UTC).`;
  return `Settled ${period} (UTC):\n${table(undefined, rows)}`;
}

export function formatOverdue(overdue: readonly OverdueExpectation[]): string {
  if (overdue.length === 0) return 'No expectation is past its deadline.';
  return table(
    ['merchant_reference', 'expected', 'deadline'],
    overdue.map((each) => [each.merchant_reference, money(each), time(each.deadline)]),
  );
}

/** Parts of an output with an empty line between them; empty ones are left out. */
export const paragraphs = (...parts: readonly string[]): string => parts.filter(Boolean).join('\n\n');

/** Rows as aligned lines; nothing without rows. */
export function table(header: readonly string[] | undefined, rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return '';
  const head = header?.map((text): Cell => [text, 'bold']);
  const cells = [...(head ? [head] : []), ...rows].map((row) =>
    row.map((cell) => {
      const [text, colour] = typeof cell === 'string' ? [cell] : cell;
      return { text: printable(text), colour };
    }),
  );
  const widths = cells[0]?.map((_, column) =>
    cells.reduce((width, row) => Math.max(width, row[column]?.text.length ?? 0), 0),
  );
  const lines = cells.map((row) => {
    const padded = row.map(({ text, colour }, column) => {
      const padding = column === row.length - 1 ? '' : ' '.repeat((widths?.[column] ?? 0) - text.length);
      return (colour === undefined ? text : coloured(colour, text)) + padding;
    });
    return padded.join('  ');
  });
  return lines.join('\n');
}

/** Applied: green. Will be worked on: yellow. Waits for an operator: red. */
function stateCell(state: TransitionState): Cell {
  if (state === 'settled') return [state, 'green'];
  if (state === 'pending' || state === 'retrying') return [state, 'yellow'];
  return CLOSED_STATES.includes(state) ? state : [state, 'red'];
}
const time = (date: Date): string => date.toISOString();
const money = ({ currency, amount, text }: StoredClaim): string =>
  `${amount ?? (text === undefined ? '?' : `"${text}" as text`)} ${currency ?? '?'}`;
