import { groupedDigits } from '@payment-service/pages/text';
import { OPERATIONS, textOf } from '../operator/acts/operations.ts';
import { readHistory } from '../operator/history.ts';
import { momentText, PAYMENT_LABELS } from '../operator/payments/advice.ts';
import { countPayments, listPayments, type PaymentFilter } from '../operator/payments/list-payments.ts';
import type { PaymentSummary } from '../operator/payments/payment-summary.ts';
import { storyOf } from '../operator/payments/story.ts';
import { moneySumsOf, orderSentences } from '../operator/payments/sums.ts';
import { showTransition } from '../operator/reports.ts';
import { PAYMENT_STATES, type PaymentState } from '../verdict/payment-state.ts';
import { countText, wordsOfReason } from '../words.ts';
import { oldestDueSeconds } from '../work/due-checks.ts';
import { findNamed, lineOfAct, must, OF_PAYMENT, type Subject } from './act-verbs.ts';
import { formatReport, formatReports } from './evidence-verbs.ts';
import { type Colour, coloured, paragraphs, table, titled } from './format.ts';
import { spooledHere } from './health-verb.ts';
import { withTables } from './open-inbox.ts';
import { type AddVerb, option, PAGE, quoted, REFERENCE, SPOOL, upTo, verb } from './verbs.ts';

/** `payments`, `payment`, `counts` and `totals`, which write nothing. */
export const PAYMENTS: readonly AddVerb[] = [
  verb({
    name: 'payments',
    about: 'lists payments and their sums, newest change first; exit code 3 if one of them needs a person',
    options: [
      option('--state <states...>', 'in these states; overdue alone lists the longest overdue first').choices(
        PAYMENT_STATES,
      ),
      option('--needed', 'only those that need a person'),
      option('--reason <reason>', 'only those that need one for this reason, such as amount_mismatch'),
      option('--search <string>', 'with this text in the merchant_reference or an internal_reference'),
      option('--order <id>', 'of this order: its attempts and instalments'),
      option('--provider <code>', 'with a report that names this provider_code'),
      option('--after <mark>', 'the page after this mark, which the previous page printed'),
      ...PAGE,
    ],
    run: (filter: PaymentFilter, open) =>
      withTables(open, async (opened) => {
        const page = await listPayments((read) => read(), opened, filter);
        return { ...page, sums: moneySumsOf(page.items) };
      }),
    format: ({ items, sums, next, at, lookedBackTo }, filter) =>
      paragraphs(
        orderSentences(filter, { items, next }).join('\n'),
        table(['state', 'money', 'reference', 'type', 'why', 'changed'], items.map(rowOf)) || 'No payments.',
        lookedBackTo ? `Searched back to ${momentText(lookedBackTo)}. The next page goes further back.` : '',
        table(
          ['type', 'currency', 'payments', 'expected', 'credited'],
          sums.map(({ transaction_type, currency, payments, ...sum }) => [
            ...[transaction_type, currency, countText(payments)],
            ...[groupedDigits(sum.expected), groupedDigits(sum.credited)],
          ]),
        ),
        at && items.some(({ needs }) => needs)
          ? `For all payments with one reason: retry or close, with --reason and --until ${at.toISOString()}`
          : '',
        next === undefined ? '' : `The next page has --after ${quoted(next)}`,
      ),
    needsPerson: ({ items }) => items.some(isWaiting),
  }),
  verb({
    name: 'payment',
    about: 'says what became of a payment and what you can do about it',
    argument: REFERENCE,
    options: [
      ...OF_PAYMENT,
      option('--bodies', 'also print the bodies of its reports, which contain personal data'),
    ],
    run: ({ bodies, ...subject }: Subject & { bodies?: true }, open, reference) =>
      withTables(open, async (opened) => {
        const payment = must(await findNamed(opened, subject, reference));
        const ids = bodies ? payment.reports.map(({ transitionId }) => transitionId) : [];
        const evidence = await Promise.all(ids.map((id) => showTransition(opened, id)));
        return { ...payment, ...(bodies && { evidence: evidence.filter((each) => each !== undefined) }) };
      }),
    format({ evidence = [], ...payment }, _own, open) {
      const { advice, merchant_reference, transaction_type, order, acts, reports, revision } = payment;
      const possible = acts.map((act) => {
        const { label, effect } = OPERATIONS[act.name];
        return `${coloured('bold', label)}: ${effect(act, payment)}\n  ${lineOfAct(act, payment, open)}`;
      });
      const facts = [
        ['reference', merchant_reference],
        ['type', transaction_type],
        ...(order === undefined ? [] : [['order', order.id]]),
        ['revision', revision],
        ['to do', advice.todo],
        ['to the customer', advice.say],
      ];
      const story = storyOf(payment).map(({ at, text, detail = '' }) => [momentText(at), text, detail]);
      return paragraphs(
        titled(advice.heading, advice.sentence),
        table(undefined, facts),
        titled('What happened', table(undefined, story)),
        titled('What you can do', possible.join('\n')),
        titled('Evidence', formatReports(reports)),
        ...evidence.map(formatReport),
      );
    },
  }),
  verb({
    name: 'counts',
    about: 'counts payments by state, and those that need a person',
    options: [SPOOL],
    run: ({ spool }: { spool?: string }, open) =>
      withTables(open, async (opened) => ({
        ...(await countPayments(opened)),
        oldestDueSeconds: await oldestDueSeconds(opened),
        spooled: await spooledHere(opened, spool),
      })),
    format: ({ needed, archived, oldestDueSeconds: late, spooled, ...states }) =>
      paragraphs(
        table(
          ['state', 'payments'],
          PAYMENT_STATES.map((state) => [stateCell(state, states[state] > 0), countText(states[state])]),
        ),
        `Payments that need a person: ${countText(needed)}. In the archive: ${archived}.`,
        `The oldest due report has waited ${Math.round(late)} s for a worker. In the spool of this machine: ${spooled ?? 'unknown'}.`,
      ),
  }),
  verb({
    name: 'totals',
    about: 'lists what was credited on each of the last days',
    options: [option('--days <number>', 'how many days, up to 31, including today (UTC)', upTo(31), 30)],
    run: (given: { days: number }, open) =>
      withTables(open, (opened) => readHistory(opened, given)).then(({ settled }) => settled),
    format: (totals) =>
      table(
        ['day', 'type', 'credited', 'payments'],
        totals.map(({ day, transaction_type, count, ...money }) => [
          ...[day.toISOString().slice(0, 10), transaction_type, textOf(money), countText(count)],
        ]),
      ) || 'Nothing was credited.',
  }),
];

/** A person must decide about it, or find out what became of it. */
const isWaiting = ({ needs, state }: PaymentSummary): boolean => needs !== undefined || state === 'overdue';

const COLOURS: Readonly<Partial<Record<PaymentState, Colour>>> = {
  ...{ held: 'red', unexpected: 'red', overdue: 'red', open: 'yellow', paid: 'green' },
};
const stateCell = (state: PaymentState, isShown = true) =>
  [PAYMENT_LABELS[state], isShown ? COLOURS[state] : undefined] as const;

const rowOf = ({ state, needs, expected, settled, ...payment }: PaymentSummary) => [
  stateCell(state),
  expected === undefined ? '-' : textOf(settled ?? expected),
  ...[payment.merchant_reference, payment.transaction_type],
  needs === undefined ? '' : `${wordsOfReason(needs).heading} (${needs})`,
  momentText(payment.changedAt),
];
