import { styleText } from 'node:util';
import { printable } from '@payment-service/core/internal';
import type { InboxStats, OverdueExpectation } from '../operator/health.ts';
import type { TransitionDetails, TransitionSummary } from '../operator/views.ts';
import { TRANSITION_STATES, type TransitionState } from '../states.ts';
import { BODY_WORDS, countText, wordsOf } from '../words.ts';
import type { StoredClaim } from '../work/verdict/evaluate.ts';

/** Waits for a person: red. Will be worked on: yellow. Applied: green. */
const COLOURS: Readonly<Partial<Record<TransitionState, 'red' | 'yellow' | 'green'>>> = {
  settled: 'green',
  pending: 'yellow',
  retrying: 'yellow',
  unhandled: 'red',
  quarantined: 'red',
  conflict: 'red',
  dead: 'red',
};

interface Cell {
  readonly text: string;
  readonly colour?: 'red' | 'yellow' | 'green' | 'bold' | undefined;
}

export function printList(transitions: readonly TransitionSummary[]): void {
  if (transitions.length === 0) {
    console.log('No transitions.');
    return;
  }
  printTable(
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

export function printDetails(transition: TransitionDetails): void {
  const { signed, expectation, bodies, failures, actions } = transition;
  const { heading, meaning, todo } = wordsOf(transition);
  const settledBy = expectation?.settledBy === undefined ? '' : `, settled by ${expectation.settledBy}`;
  printTable(undefined, [
    ['id', transition.transitionId],
    ['state', stateCell(transition.state)],
    ['reason', transition.reason ?? '-'],
    ['it means', `${heading}. ${meaning}`.replaceAll('`', '')],
    ['to do', todo.replaceAll('`', '')],
    ...Object.entries(signed),
    ['expected', expectation === undefined ? '-' : `${money(expectation)}${settledBy}`],
    ['last change', time(transition.changedAt)],
    ...(transition.isArchived
      ? [['archived', 'yes: its bodies and counts were removed']]
      : countsOf(transition)),
  ]);
  for (const body of bodies) {
    console.log(`\nbody ${body.digest}`);
    printTable(undefined, [
      ['request', money(body.request)],
      ['transaction', money(body.transaction)],
      ['deliveries', `${body.deliveries}, from ${time(body.firstAt)} to ${time(body.lastAt)}`],
      ['key', body.keyId],
      ['refused by', body.refusal ?? '-'],
      ['settled', body.isSettled ? 'yes' : 'no'],
      ...(body.isSealed ? [['content', BODY_WORDS.sealed]] : []),
      ...(body.text === undefined ? [] : [['content', body.text]]),
    ]);
  }
  printBelow(
    ['failed attempt', 'at', 'error'],
    failures.map(({ attempt, at, error }) => [String(attempt), time(at), error]),
  );
  printBelow(
    ['action', 'by', 'at', 'note'],
    actions.map(({ action, by, at, note }) => [action, by, time(at), note]),
  );
}

/** A table after an empty line; nothing without rows. */
export function printBelow(header: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) return;
  console.log();
  printTable(header, rows);
}

function countsOf(transition: TransitionDetails): string[][] {
  return [
    ['attempts', String(transition.attempts)],
    ['last error', transition.lastError ?? '-'],
    ['next attempt', transition.nextAt === undefined ? '-' : time(transition.nextAt)],
    ['first delivery', time(transition.firstAt)],
    ['deliveries', `${transition.deliveries}, and ${transition.refusedBodies} refused`],
  ];
}

export function printStats(stats: Omit<InboxStats, 'spooled'>): void {
  printTable(
    ['state', 'transitions'],
    TRANSITION_STATES.map((state) => [
      stats.states[state] === 0 ? state : stateCell(state),
      countText(stats.states[state]),
    ]),
  );
  if (stats.archived > 0) console.log(`\nIn the archive: ${stats.archived}.`);
  printBelow(
    ['reason', 'transitions'],
    Object.entries(stats.reasons).map(([reason, count]) => [reason, countText(count)]),
  );
  console.log(`\nThe oldest due transition has waited ${Math.round(stats.oldestDueSeconds)} s for a worker.`);
  console.log(`Overdue expectations: ${countText(stats.overdue)}.`);
}

export function printOverdue(overdue: readonly OverdueExpectation[]): void {
  if (overdue.length === 0) {
    console.log('No expectation is past its deadline.');
    return;
  }
  printTable(
    ['merchant_reference', 'expected', 'deadline'],
    overdue.map((each) => [each.merchant_reference, money(each), time(each.deadline)]),
  );
}

export function printTable(
  header: readonly string[] | undefined,
  rows: readonly (readonly (string | Cell)[])[],
): void {
  const cells = rows.map((row) =>
    row.map((cell): Cell => {
      const { text, colour } = typeof cell === 'string' ? { text: cell, colour: undefined } : cell;
      return { text: printable(text), colour };
    }),
  );
  if (header !== undefined) cells.unshift(header.map((text): Cell => ({ text, colour: 'bold' })));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [column, { text }] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, text.length);
    }
  }
  for (const row of cells) {
    const line = row.map(({ text, colour }, column) => {
      const padding = column === row.length - 1 ? '' : ' '.repeat((widths[column] ?? 0) - text.length);
      // Without colours in a pipe, and where NO_COLOR is set.
      return (colour === undefined ? text : styleText(colour, text, { stream: process.stdout })) + padding;
    });
    console.log(line.join('  '));
  }
}

const stateCell = (state: TransitionState): Cell => ({ text: state, colour: COLOURS[state] });
const time = (date: Date): string => date.toISOString();
const money = ({ currency, amount }: StoredClaim): string => `${amount ?? '?'} ${currency ?? '?'}`;
