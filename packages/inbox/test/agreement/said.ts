import type { Inbox, TransitionReason } from '../../src/index.ts';
import type { PaymentSummary } from '../../src/operator/payments/payment-summary.ts';
import type { PaymentState } from '../../src/verdict/payment-state.ts';
import type { PaymentKey } from '../../src/verdict/restate.ts';
import { wordsOfReason } from '../../src/words.ts';
import type { AnyTransaction, Merchant } from '../support/merchant.ts';

/** What a face says of a payment, such as `held, amount_mismatch: expects UGX 500`. */
export type Said = string;

/** The inbox that all faces look at. */
export interface Looked {
  readonly merchant: Merchant;
  readonly inbox: Inbox<AnyTransaction>;
  readonly account: string;
  /** Every payment of the account that can be known. */
  readonly keys: readonly PaymentKey[];
}

/** One way to look at the payments of an inbox: what it says of each, by its key. */
export type Face = (looked: Looked) => Promise<Map<string, Said>>;

/** Numbers that a face shows, by their names; 0 without one. */
export type Numbers = Readonly<Record<string, number>>;

export const nameOf = ({ merchant_reference, transaction_type }: PaymentKey): string =>
  `${merchant_reference} ${transaction_type}`;

export function saidOf({
  state,
  needs,
  expected,
  settled,
}: Pick<PaymentSummary, 'state' | 'needs'> & {
  readonly expected?: Money | undefined;
  readonly settled?: Money | undefined;
}): Said {
  const money = settled ?? expected;
  const verb = settled === undefined ? 'expects' : 'settled';
  const about = money === undefined ? 'nothing' : `${verb} ${money.currency} ${money.amount}`;
  return `${state}${needs === undefined ? '' : `, ${needs}`}: ${about}`;
}

type Money = Pick<NonNullable<PaymentSummary['expected']>, 'currency' | 'amount'>;

/** The same with the heading of the reason in its place, for faces that show it to a person. */
export const inWords = (said: Said): Said =>
  said.replace(/(?<=^\w+, )\w+(?=:)/, (reason) =>
    wordsOfReason(reason as TransitionReason).heading.toLowerCase(),
  );

/** What a face for people says, from its words; `money` may have grouped digits. */
export function saidInWords(
  state: string,
  heading: string,
  money: string,
  isCredited: boolean = /^(paid|reversed)$/i.test(state),
): Said {
  const shown = state.toLowerCase();
  const verb = isCredited ? 'settled' : 'expects';
  const about = money === '' ? 'nothing' : `${verb} ${money.replaceAll(',', '')}`;
  return `${shown}${heading === '' ? '' : `, ${heading.toLowerCase()}`}: ${about}`;
}

/** What a payment in each state is called if no one must look at it, and what is said of it, with its money. */
const SENTENCES: Readonly<Record<PaymentState, readonly [heading: string, sentence: RegExp]>> = {
  held: ['Held', /^Not credited: a person must decide\. (?:Nothing|(\w+ \S+)) (?:is|was) expected\b/],
  unexpected: ['Not expected', /^Reported by the service, and nothing is expected under this reference\./],
  overdue: ['Not paid by the deadline', /^Not paid: (\w+ \S+) was expected by /],
  open: ['Not paid yet', /^Not paid yet: (\w+ \S+) is expected\b/],
  paid: ['Paid', /^Paid: (\w+ \S+) was credited on /],
  reversed: ['Reversed', /^Taken back: (\w+ \S+) was credited on .* then reported a reversal\./],
  failed: ['Failed', /^Not paid: .* that it failed\. A later payment of (\w+ \S+) still counts\./],
  canceled: ['Canceled', /^Canceled: (\w+ \S+) is no longer expected\./],
};

/** What a heading and a sentence tell a person. */
export function saidInSentence(heading: string, sentence: string): Said {
  for (const [state, [own, pattern]] of Object.entries(SENTENCES)) {
    const found = pattern.exec(sentence);
    if (found === null) continue;
    const [, waits = heading === own ? '' : heading] = /Another report waits: (.*?)\. /.exec(sentence) ?? [];
    return saidInWords(state, waits, found[1] ?? '');
  }
  return `no known sentence: ${heading}. ${sentence}`;
}

/** Of several pages, which must have each payment once. */
export function addTo(all: Map<string, Said>, name: string, said: Said): void {
  if (all.has(name)) throw new Error(`${name} is listed twice.`);
  all.set(name, said);
}

/** The sums of a list, such as `COLLECTION UGX 1200 500`: what is expected and what was credited, by type. */
export function sumsOf(all: Iterable<readonly [name: string, said: Said]>): string {
  const sums = new Map<string, [expected: number, credited: number]>();
  for (const [name, said] of all) {
    const [, verb, currency = '', amount] = /: (expects|settled) (\w+) (.+)$/.exec(said) ?? [];
    if (verb === undefined) continue;
    const key = `${name.split(' ').at(-1)} ${currency}`;
    const [expected, credited] = sums.get(key) ?? [0, 0];
    sums.set(key, [expected + Number(amount), credited + (verb === 'settled' ? Number(amount) : 0)]);
  }
  return [...sums]
    .map((sum) => sum.flat().join(' '))
    .toSorted()
    .join();
}

/** Fails where a list has other sums than its payments. */
export function mustBeSums(shown: string, all: Iterable<readonly [name: string, said: Said]>): void {
  const sums = sumsOf(all);
  if (shown !== sums)
    throw new Error(`The sums of a list are [${shown}], and those of its payments [${sums}].`);
}
