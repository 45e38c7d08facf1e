import { canonicalAmount } from '@payment-service/core';
import { InvalidArgumentError, type Option } from 'commander';
import type { Inbox } from '../inbox.ts';
import type { ActedOnAll, ActSelection } from '../operator/acts/act.ts';
import { ACT_NAMES, type ActName } from '../operator/acts/action-log.ts';
import type { ActGiven } from '../operator/acts/effects.ts';
import type { Act } from '../operator/acts/offers.ts';
import { BULK_ACTS, type BulkAct, OPERATIONS } from '../operator/acts/operations.ts';
import { readClock } from '../operator/hours.ts';
import { PAYMENT_LABELS, SAY_UNKNOWN } from '../operator/payments/advice.ts';
import { findPayment, type Payment } from '../operator/payments/read-payment.ts';
import type { OperatorContext } from '../operator/reports.ts';
import type { Settled } from '../verdict/evaluate.ts';
import { COMPARISONS } from '../verdict/stored-values.ts';
import { countText, wordsOfReason } from '../words.ts';
import { WrongUse } from './failure.ts';
import { NoInboxError, type OpenOptions, withInbox } from './open-inbox.ts';
import { type AddVerb, lineOf, moment, named, option, REFERENCE, required, upTo, verb } from './verbs.ts';

/** Which payment, besides its merchant_reference. */
export interface Subject {
  readonly transaction_type?: string;
  readonly internal_reference?: string;
}

interface Given extends Subject, Partial<ActGiven>, Partial<ActSelection> {
  readonly revision?: string;
  readonly report?: string;
  /** As `moneyOf()` writes it. */
  readonly replace?: string;
}

type Bulk = { readonly name: BulkAct; readonly open: OpenOptions } & Pick<ActSelection, 'reason'>;

/** What is said after an act, and the payment after it; or how many there were. */
interface Done extends Partial<ActedOnAll> {
  readonly said: string;
  readonly payment?: Payment | undefined;
}

export const OF_PAYMENT: readonly Option[] = [
  named('transaction_type', option('--type <type>', 'its transaction_type; COLLECTION by default')),
  named('internal_reference', option('--internal-reference <string>', 'instead of REFERENCE')),
];
const BY_PERSON: readonly Option[] = [
  option('--by <name>', 'who acts; kept with the payment'),
  option('--note <string>', 'why; kept with the payment'),
];
const REVISION = option('--revision <revision>', "the revision that 'payment' printed");
const REPORT = option('--report <id>', 'which of its reports');
const COMPARE = option('--compare <amount>', 'which of the two amounts of a report').choices(COMPARISONS);
const MANY = [
  option('--reason <reason>', 'instead of a reference: all that need a person for this reason'),
  option('--until <date>', 'with --reason: when you looked; what has changed since is skipped', moment),
  option('--limit <number>', 'with --reason: at most this many', upTo(1000), 1000),
];
/** Besides the options of every act. */
const OWN: Readonly<Partial<Record<ActName, readonly Option[]>>> = {
  ...{ retry: MANY, close: MANY },
  accept: [option('--amount <money>', "which of the offered amounts, such as '3000 UGX'", moneyIn), COMPARE],
  expect: [
    required('--amount <amount>', 'above zero, such as 1999.90', amountIn),
    required('--currency <code>', 'such as UGX'),
    COMPARE,
    option('--deadline <date>', 'when the payment becomes overdue', moment),
    option('--replace <money>', "instead of --revision: what is expected now, such as '500 UGX'", moneyIn),
  ],
};
/** What could credit, or ends the waiting for money, is decided on what a person has seen. */
const needsRevision = (name: ActName): boolean =>
  OPERATIONS[name].canCredit || name === 'close' || name === 'cancel';

/** One verb for each operation. */
export const ACTS: readonly AddVerb[] = ACT_NAMES.map((name) =>
  verb({
    name: OPERATIONS[name].verb,
    about: OPERATIONS[name].about,
    argument: REFERENCE,
    options: [
      ...OF_PAYMENT,
      ...(OWN[name] ?? []),
      ...(OPERATIONS[name].moves ? [REPORT] : []),
      ...(needsRevision(name) ? [REVISION] : []),
      ...BY_PERSON,
    ],
    run: (given: Given, open, reference) =>
      withInbox(open, (inbox, opened) => {
        const many = reference === undefined ? BULK_ACTS.find((each) => each === name) : undefined;
        const { reason } = given;
        if (many !== undefined && reason !== undefined)
          return actOnMany(inbox, opened, { ...given, name: many, reason, open });
        return actOnOne(inbox, opened, { name, reference, given, open });
      }),
    format: ({ said, payment }) => [said, payment?.advice.sentence ?? ''].join('\n').trim(),
  }),
);

/** What was typed. */
interface Typed {
  readonly name: ActName;
  readonly reference?: string | undefined;
  readonly given: Given;
  readonly open: OpenOptions;
}

async function actOnOne<Tx>(inbox: Inbox<Tx>, opened: OperatorContext<Tx>, typed: Typed): Promise<Done> {
  const { name, reference, given } = typed;
  const { by = '', note = '', currency = '', amount = '', compare = 'both', deadline } = given;
  const money = { currency, amount, compare, deadline };
  const known = await findNamed(opened, given, reference);
  if (name === 'expect' && known === undefined && reference !== undefined) {
    const { transaction_type } = given;
    await inbox.expect({ ...money, merchant_reference: reference, transaction_type });
    const payment = await inbox.payment(reference, transaction_type);
    return { said: OPERATIONS.expect.done({ money }), payment };
  }
  const act = chosenAct(must(known), typed);
  const payment = await inbox.act(act, { by, note, ...(name === 'expect' && money) });
  return { said: OPERATIONS[name].done(name === 'expect' ? { money } : act), payment };
}

async function actOnMany<Tx>(
  inbox: Inbox<Tx>,
  opened: OperatorContext<Tx>,
  { name, reason, until, limit, by = '', note = '', open }: Given & Bulk,
): Promise<Done> {
  if (until !== undefined) {
    const acted = await inbox.actAll(name, { reason, until, limit }, { by, note });
    const skipped = `Skipped, because they have changed since: ${acted.skipped}.`;
    return { ...acted, said: `${OPERATIONS[name].label}: done for ${acted.done}. ${skipped}` };
  }
  const { items, next } = await inbox.payments({ reason, limit: 1000 });
  const now = new Date(await readClock(opened)).toISOString();
  const count = `${countText(items.length)}${next === undefined ? '' : '+'}`;
  throw new WrongUse(
    `--until is missing: it says when you looked, and what has changed since then is skipped. Nothing was done. ` +
      `Payments with this reason now: ${count} (${wordsOfReason(reason).heading}). For all of them:\n` +
      lineOf(open, name, undefined, '--reason', reason, '--until', now, '--by', by, '--note', note),
  );
}

/** The act that is meant, of those that the payment offers. */
function chosenAct(payment: Payment, { name, given, open }: Typed): Act {
  const { merchant_reference, transaction_type, advice, acts, state, expected } = payment;
  // An operator who names the money that is replaced has seen it.
  const seen = given.replace === moneyOf(expected) ? payment.revision : 'another';
  const revision = given.revision ?? (given.replace && seen);
  const look = lineOf(open, 'payment', merchant_reference, ...typeOf(transaction_type));
  if (revision !== undefined && revision !== payment.revision)
    throw new Error(
      `This payment has changed since you looked. Nothing was done.\n${advice.sentence}\nLook again: ${look}`,
    );
  const offered = acts.filter((act) => act.name === name);
  if (offered.length === 0) {
    const possible = [...new Set(acts.map((act) => OPERATIONS[act.name].verb))].join(', ') || 'nothing';
    const what = `${OPERATIONS[name].verb} is not possible: it is ${PAYMENT_LABELS[state].toLowerCase()}.`;
    throw new Error(`${what}\n${advice.sentence}\nPossible now: ${possible}.`);
  }
  if (revision === undefined && needsRevision(name))
    throw new WrongUse(`--revision is missing: it says what you have decided on. Read it: ${look}`);
  const fitting = offered.filter((act) => {
    const flags = flagsOf(act);
    return FLAGS.every((flag) => (given[flag] ?? flags[flag]) === (flags[flag] ?? given[flag]));
  });
  const [first] = fitting;
  const lines = new Set(
    (first === undefined ? offered : fitting).map((act) => lineOfAct(act, payment, open)),
  );
  // Acts with the same line do the same.
  if (first !== undefined && lines.size === 1) return first;
  throw new WrongUse(['Choose one of these, and say who acts and why:', ...lines].join('\n'));
}

const FLAGS = ['report', 'amount', 'compare'] as const;
/** What tells it from other acts of its name. */
const flagsOf = (act: Act): Readonly<Record<string, string | undefined>> => {
  const { name, report, money, compare } = act;
  return { report, compare, amount: name === 'accept' ? moneyOf(money) : undefined };
};

/** What performs an act: only who acts and why are missing, and for `expect` the amount. */
export function lineOfAct(act: Act, { acts, expected }: Payment, open: OpenOptions): string {
  const { name, merchant_reference, transaction_type, revision } = act;
  const others = acts.filter((each) => each.name === name).map(flagsOf);
  const flags = FLAGS.flatMap((flag) => {
    const value = flagsOf(act)[flag];
    const isOne = flag !== 'amount' && others.every((other) => other[flag] === value);
    return value === undefined || isOne ? [] : [`--${flag}`, value];
  });
  if (name === 'expect') flags.push('--amount', '', '--currency', expected?.currency ?? '');
  if (needsRevision(name)) flags.push('--revision', revision);
  flags.push('--by', '', '--note', '');
  return lineOf(open, OPERATIONS[name].verb, merchant_reference, ...typeOf(transaction_type), ...flags);
}

const typeOf = (type: string): string[] => (type === 'COLLECTION' ? [] : ['--type', type]);

export async function findNamed<Tx>(
  opened: OperatorContext<Tx>,
  { transaction_type, internal_reference }: Subject,
  reference: string | undefined,
): Promise<Payment | undefined> {
  if ((internal_reference === undefined) === (reference === undefined))
    throw new WrongUse('Name one payment: its REFERENCE, or --internal-reference.');
  return findPayment(opened, reference ?? { internal_reference: internal_reference ?? '' }, transaction_type);
}

export function must(payment: Payment | undefined): Payment {
  if (payment !== undefined) return payment;
  throw new NoInboxError(
    `Nothing is known about this payment. If this is the service's reference, use --internal-reference; if it is not a collection, add --type. 'payments --search' finds a part of a reference. You may tell the customer: ${SAY_UNKNOWN}`,
  );
}

const moneyOf = (money: Settled | undefined): string | undefined =>
  money && `${money.amount} ${money.currency}`;

/** As `moneyOf()` writes it, or as it is shown, with the currency first and the digits in groups. */
function moneyIn(text: string): string {
  const [, first = '', second] = /^(\S{1,100}) (\S{1,100})$/.exec(text) ?? [];
  if (second !== undefined) {
    const [amount, currency] = /^[A-Z]/.test(first) ? [second.replaceAll(',', ''), first] : [first, second];
    return `${amountIn(amount)} ${currency}`;
  }
  throw new InvalidArgumentError("It must be money, such as '500 UGX'.");
}

/** Its message does not repeat the value: it might be a phone number. */
function amountIn(text: string): string {
  try {
    return canonicalAmount(text);
  } catch {
    throw new WrongUse('The amount must be a decimal, such as 1999.90.');
  }
}
