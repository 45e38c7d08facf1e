import { sumOfProducts } from '@payment-service/core/reconcile';
import type { PaymentState } from '../../verdict/payment-state.ts';
import { WAITS_FOR_PERSON, wordsOfReason } from '../../words.ts';
import type { ActedOn } from '../acts/offers.ts';
import { textOf } from '../acts/operations.ts';
import type { TransitionSummary } from '../reports.ts';
import type { PaymentSummary } from './payment-summary.ts';

/** What a payment means for a person, made in this one place for the API, the command and the console. */
export interface Advice {
  /** A person must decide or find out something. */
  readonly isNeeded: boolean;
  /** The state in a few words: 'Paid', 'Suspicious: the amount differs'. */
  readonly heading: string;
  /** The state and the money in a sentence. */
  readonly sentence: string;
  readonly todo: string;
  /** What may be read to the customer. */
  readonly say: string;
}

/** A state in one or two words. */
export const PAYMENT_LABELS: Readonly<Record<PaymentState, string>> = {
  held: 'Held',
  unexpected: 'Unexpected',
  overdue: 'Overdue',
  open: 'Open',
  paid: 'Paid',
  reversed: 'Reversed',
  failed: 'Failed',
  canceled: 'Canceled',
};

type Own = Omit<Advice, 'isNeeded'>;
/** For the customer, about a reference under which there is nothing. */
export const SAY_UNKNOWN =
  'We have not received your payment. We are asking about it. Please do not pay again.';
const CHECKING = 'We are checking your payment. Please do not pay again.';

type Advised = PaymentSummary & Partial<Pick<ActedOn, 'isCanceled'>>;

/** @param reports Those that are known of it: one that is under way is no reason to pay again. */
export function adviceOf(
  payment: Advised,
  reports: readonly Pick<TransitionSummary, 'state' | 'reason'>[] = [],
): Advice {
  const { needs } = payment;
  const own = reported(OWN[payment.state](payment), payment, reports);
  if (needs === undefined) return { isNeeded: false, ...own };
  const { heading, meaning, todo } = wordsOfReason(needs);
  // Its money is settled; what a person must look at is another report.
  if (payment.settled !== undefined)
    return {
      isNeeded: true,
      ...own,
      sentence: `${own.sentence} Another report waits: ${inside(heading)}. ${meaning}`,
      todo,
    };
  return { ...own, isNeeded: true, heading, sentence: `${own.sentence} ${meaning}`, todo };
}

/** The same with what no payment's state says: a report that no worker has decided on, or that belongs to no payment. */
function reported(
  own: Own,
  { settled, needs, expected }: PaymentSummary,
  reports: Parameters<typeof adviceOf>[1] = [],
): Own {
  if (settled !== undefined || needs !== undefined) return own;
  if (reports.some(({ state }) => state === 'pending' || state === 'retrying'))
    return {
      ...own,
      sentence: `${own.sentence} A report has arrived, and a worker checks it.`,
      todo: 'Nothing. If it stays like this, no worker runs, or your handler fails.',
      say: 'A report of your payment has arrived and is being entered. Please do not pay again.',
    };
  const held = expected === undefined && reports.find(({ state }) => WAITS_FOR_PERSON.includes(state));
  if (!held || held.reason === undefined) return own;
  const { heading, meaning, todo } = wordsOfReason(held.reason);
  const sentence = `A report can be read as one with this reference, so it belongs to no payment. ${meaning}`;
  return { ...own, heading, sentence, todo };
}

const OWN: Readonly<Record<PaymentState, (payment: Advised) => Own>> = {
  held: ({ expected, isCanceled }) => ({
    heading: 'Held',
    sentence: `Not credited: a person must decide. ${expected ? `${textOf(expected)} ${isCanceled ? 'was expected until it was canceled' : 'is expected'}.` : 'Nothing is expected.'}`,
    todo: 'Ask the service what was paid, then decide.',
    say: CHECKING,
  }),
  unexpected: () => ({
    heading: 'Not expected',
    sentence: 'Reported by the service, and nothing is expected under this reference.',
    todo: 'Nothing, unless it is yours.',
    say: CHECKING,
  }),
  overdue: ({ expected }) => ({
    heading: 'Not paid by the deadline',
    sentence: `Not paid: ${textOf(expected)} was expected by ${dayOf(expected?.deadline)}.`,
    todo: 'Ask the service what became of it. If it was never started, or the order is gone, cancel it.',
    say: 'We have not received your payment. Please do not pay again before we have asked about it.',
  }),
  open: ({ expected }) => ({
    heading: 'Not paid yet',
    sentence: `Not paid yet: ${textOf(expected)} is expected${expected?.deadline ? ` by ${dayOf(expected.deadline)}` : ''}.`,
    todo: 'Nothing: the customer can still pay.',
    say: 'We have not received your payment yet.',
  }),
  paid: ({ settled, replaced }) => ({
    heading: 'Paid',
    sentence: `Paid: ${textOf(settled)} was credited on ${dayOf(settled?.at)}.${replacedText(replaced)}`,
    todo: restText(settled, replaced) ?? 'Nothing: the money is credited.',
    say: `Your payment of ${textOf(settled)} has arrived.`,
  }),
  reversed: ({ settled }) => ({
    heading: 'Reversed',
    sentence: `Taken back: ${textOf(settled)} was credited on ${dayOf(settled?.at)}, and the service then reported a reversal.`,
    todo: 'Nothing here: your handler was called. Check that nothing more is delivered.',
    say: 'Your payment was returned to you.',
  }),
  failed: ({ expected }) => ({
    heading: 'Failed',
    sentence: `Not paid: the service reports that it failed. A later payment of ${textOf(expected)} still counts.`,
    todo: 'Nothing: nothing was paid, and the customer can try again.',
    say: 'Your payment did not succeed. You can try again.',
  }),
  canceled: ({ expected }) => ({
    heading: 'Canceled',
    sentence: `Canceled: ${textOf(expected)} is no longer expected. If it is paid after all, that waits for a person.`,
    todo: 'Nothing: no money is expected any more.',
    say: 'This payment was canceled.',
  }),
};

function replacedText(replaced: PaymentSummary['replaced']): string {
  const last = replaced.at(-1);
  return last === undefined ? '' : ` ${last.by} had it replace ${textOf(last)}: ${last.note}`;
}

/** Where a person accepted another amount than the first one that was expected: what of it is left, or too much. */
function restText(
  settled: PaymentSummary['settled'],
  replaced: PaymentSummary['replaced'],
): string | undefined {
  const [first] = replaced;
  if (settled === undefined || first === undefined || first.currency !== settled.currency) return undefined;
  const rest = sumOfProducts([
    [first.amount, 1],
    [settled.amount, -1],
  ]);
  if (rest === '0') return undefined;
  const money = { currency: first.currency, amount: rest.replace('-', '') };
  return rest.startsWith('-')
    ? `${textOf(money)} more than the first ${textOf(first)} was paid: refund it, or deliver more.`
    : `${textOf(money)} of the first ${textOf(first)} was not paid: request it under a new reference, if you still want it.`;
}

const dayOf = (date: Date | undefined): string => (date === undefined ? 'its deadline' : momentText(date));

/** In UTC, as everywhere where no other zone is named. */
export const momentText = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const inside = (heading: string): string => heading.charAt(0).toLowerCase() + heading.slice(1);
