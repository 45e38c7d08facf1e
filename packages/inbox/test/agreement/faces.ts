import type { Inbox, PaymentFilter } from '../../src/index.ts';
import { PAYMENT_STATES, type PaymentState } from '../../src/verdict/payment-state.ts';
import type { AnyTransaction } from '../support/merchant.ts';
import { COMMAND_LISTS, COMMAND_PAYMENTS, countsOfCommand, totalsOfCommand } from './command-faces.ts';
import {
  CONSOLE_LISTS,
  countsOfLists,
  moneyOfChart,
  OVERVIEW_LISTS,
  outcomesOfChart,
  paymentPages,
  tilesOfOverview,
  totalsOfMoney,
} from './console-faces.ts';
import { addTo, type Face, inWords, type Looked, type Numbers, nameOf, type Said, saidOf } from './said.ts';

async function listed(
  inbox: Inbox<AnyTransaction>,
  filters: readonly PaymentFilter[],
): Promise<Map<string, Said>> {
  const found = new Map<string, Said>();
  for (const filter of filters)
    for await (const payment of inbox.payments(filter)) addTo(found, nameOf(payment), saidOf(payment));
  return found;
}

const everyPayment: Face = ({ inbox }) => listed(inbox, [{}]);

/** What the page of each payment says; nothing of one that is not known. */
export const paymentOf: Face = async ({ inbox, keys }) => {
  const found = new Map<string, Said>();
  for (const { merchant_reference, transaction_type } of keys) {
    const payment = await inbox.payment(merchant_reference, transaction_type);
    if (payment !== undefined) found.set(nameOf(payment), saidOf(payment));
  }
  return found;
};

/** A face, and what it must show of what another one says: everything that is not left out. */
type Compared = readonly [face: string, ask: Face, shown?: (said: Said) => Said | undefined];

/** A face that shows numbers, and which of those that follow from the payments. */
type Counted = readonly [
  face: string,
  ask: (looked: Looked) => Promise<Numbers>,
  which: (facts: Facts) => Numbers,
];

interface Faces {
  /** Those that show payments that are not archived as a whole. */
  readonly lists?: readonly Compared[];
  /** Those that show one payment. */
  readonly payments?: readonly Compared[];
  readonly numbers?: readonly Counted[];
}

const FACES: Faces = {
  lists: [
    ['payments({ limit: 1 })', ({ inbox }) => listed(inbox, [{ limit: 1 }])],
    [
      'payments({ state }) for each',
      ({ inbox }) =>
        listed(
          inbox,
          PAYMENT_STATES.map((state) => ({ state, limit: 2 })),
        ),
    ],
    ['/payments in pages of one', CONSOLE_LISTS.pages, inWords],
    ['/payments of each state', CONSOLE_LISTS.states, inWords],
    ['/payments.csv', CONSOLE_LISTS.file],
    [
      'needed on the overview',
      OVERVIEW_LISTS.needed,
      (said) => (/^\w+, /.test(said) ? inWords(said) : undefined),
    ],
    ['overdue on the overview', OVERVIEW_LISTS.overdue, (said) => (/^overdue/.test(said) ? said : undefined)],
  ],
  payments: [['/payment', paymentPages, inWords]],
  numbers: [
    ['the counts of /payments', countsOfLists, ({ counts }) => counts],
    [
      'the overview',
      tilesOfOverview,
      ({ counts: { needed = 0, overdue = 0, open = 0, paid = 0 } }) => ({ needed, overdue, open, paid }),
    ],
    ['/money', totalsOfMoney, ({ totals }) => totals],
    ['the chart of outcomes', outcomesOfChart, ({ outcomes }) => outcomes],
    ['the chart of money', moneyOfChart, ({ money }) => money],
  ],
};

/** Those of the command, in three parts: a run of it costs more than all other faces, so that each history asks one part. */
const COMMAND: readonly Faces[] = [
  {
    lists: [
      ['payments --json', COMMAND_LISTS.json],
      ['payments --json --limit 1', COMMAND_LISTS.pages],
    ],
  },
  {
    lists: [['payments', COMMAND_LISTS.words, inWords]],
    payments: [['payment', COMMAND_PAYMENTS.words, inWords]],
  },
  {
    payments: [['payment --json', COMMAND_PAYMENTS.json]],
    numbers: [
      ['counts', countsOfCommand, ({ counts }) => counts],
      ['totals', totalsOfCommand, ({ totals }) => totals],
    ],
  },
];

/** Lists of a part of the payments, and which of those that are listed belong in it. */
function partsOf(
  all: ReadonlyMap<string, Said>,
  orders: ReadonlySet<string>,
): readonly [PaymentFilter, string[]][] {
  const names = (isMeant: (said: Said, name: string) => boolean): string[] =>
    [...all].flatMap(([name, said]) => (isMeant(said, name) ? [name] : []));
  const needs = (said: Said): string | undefined => /^\w+, (\w+):/.exec(said)?.[1];
  const reasons = new Set([...all.values()].flatMap((said) => needs(said) ?? []));
  const isFirst = (name: string): boolean => name.startsWith('ORD-0 ');
  const parts: [PaymentFilter, string[]][] = [
    [{ needed: true, limit: 1 }, names((said) => needs(said) !== undefined)],
    [
      { needed: true, state: ['paid', 'reversed'], limit: 1 },
      names((said) => needs(said) !== undefined && /^(paid|reversed)/.test(said)),
    ],
    [{ needed: true, search: 'ORD-0' }, names((said, name) => needs(said) !== undefined && isFirst(name))],
    [{ search: 'rd-0' }, names((_said, name) => isFirst(name))],
    [{ order: 'ORDER', limit: 1 }, names((_said, name) => orders.has(name))],
    [{ state: ['overdue', 'failed'], limit: 1 }, names((said) => /^(overdue|failed)/.test(said))],
  ];
  for (const reason of reasons)
    parts.push([{ reason: reason as PaymentFilter['reason'] }, names((said) => needs(said) === reason)]);
  return parts;
}

/** What the numbers of all faces follow from. */
interface Facts {
  /** How many payments are in each state, and how many need a person. */
  readonly counts: Numbers;
  /** What was credited, by currency and type. */
  readonly totals: Numbers;
  /** How many payments changed in the last 48 hours, by the words of the chart. */
  readonly outcomes: Numbers;
  /** What was credited and what waits, by the words of the chart and by type: a payout is never added to a collection. */
  readonly money: Numbers;
}

const OUTCOMES: Readonly<Record<PaymentState, string>> = {
  ...{ held: 'Held', unexpected: 'Unexpected', overdue: 'Open or overdue', open: 'Open or overdue' },
  ...{ paid: 'Paid', reversed: 'Reversed or canceled', failed: 'Failed', canceled: 'Reversed or canceled' },
};
const HOUR_MS = 3_600_000;

async function factsOf(
  looked: Looked,
  own: ReadonlyMap<string, Said>,
  all: ReadonlyMap<string, Said>,
): Promise<Facts> {
  const { inbox, keys } = looked;
  const counts = countsIn(all.values());
  const totals: [string, number][] = [];
  const money: [string, number][] = [];
  for (const [name, said] of own)
    if (said.includes(': settled ')) {
      const type = name.split(' ').at(-1);
      totals.push([`UGX ${type}`, amountIn(said)]);
      money.push([`Credited, ${type}`, amountIn(said)]);
    }
  for (const { merchant_reference, transaction_type } of keys) {
    const {
      state,
      expected,
      reports = [],
    } = (await inbox.payment(merchant_reference, transaction_type)) ?? {};
    const isUnderWay = reports.some((report) => report.state === 'pending' || report.state === 'retrying');
    const amount = Number(expected?.amount ?? 0);
    if (state === 'held') money.push([`Waits for a person, ${transaction_type}`, amount]);
    else if (isUnderWay && /open|overdue|failed/.test(String(state)))
      money.push([`About to be credited, ${transaction_type}`, amount]);
  }
  const since = new Date(Date.now() - (Date.now() % HOUR_MS) - 47 * HOUR_MS);
  const recent: [string, number][] = [];
  for await (const { state } of inbox.payments({ since })) recent.push([OUTCOMES[state], 1]);
  return { counts, totals: added(totals), outcomes: added(recent), money: added(money) };
}

const amountIn = (said: Said): number => Number(/ UGX (\d+)$/.exec(said)?.[1] ?? 0);

/** The sums of what is added to each name. */
function added(each: Iterable<readonly [name: string, value: number]>): Numbers {
  const all: Record<string, number> = {};
  for (const [name, value] of each) all[name] = (all[name] ?? 0) + value;
  return all;
}

const countsIn = (all: Iterable<Said>): Numbers =>
  added(
    [...all].flatMap((said) => {
      const [, state = '', comma] = /^(\w+)(,?)/.exec(said) ?? [];
      return [[state, 1] as const, ...(comma ? [['needed', 1] as const] : [])];
    }),
  );

/** What does not agree with what the other faces say, if anything. */
function difference(face: string, shown: object, others: string, known: object): string[] {
  const [one, other] = [shown, known].map((each) => JSON.stringify(Object.entries(each).toSorted()));
  return one === other ? [] : [`${face} says ${one}, and ${others} ${other}`];
}

const same = (said: Said): Said => said;

const nonZero = (numbers: Numbers): Numbers =>
  Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== 0));

/**
 * What is wrong with how the faces answer together; empty if they agree.
 *
 * @param part Also asks every list, in pages, the console, and this part of the command: a number from 0 on.
 */
export async function disagreements(looked: Looked, part?: number): Promise<string[]> {
  const { inbox } = looked;
  const wrong: string[] = [];
  const own = await paymentOf(looked);
  const all = await everyPayment(looked);
  for (const [name, said] of own)
    if ((all.get(name) ?? said) !== said)
      wrong.push(`payments() says of ${name} [${all.get(name)}], and payment() [${said}]`);
  const { archived: _, ...counts } = await inbox.counts();
  wrong.push(...difference('counts()', nonZero(counts), 'payments()', countsIn(all.values())));
  if (part === undefined) return wrong;
  const compare = async ([face, ask, shown = same]: Compared, others: string, known: typeof all) => {
    const expected = [...known].map(([name, said]) => [name, shown(said)] as const);
    const meant = expected.filter(([, said]) => said !== undefined);
    wrong.push(...difference(face, Object.fromEntries(await ask(looked)), others, Object.fromEntries(meant)));
  };
  const facts = await factsOf(looked, own, all);
  for (const { lists = [], payments = [], numbers = [] } of [FACES, COMMAND[part % COMMAND.length] ?? {}]) {
    for (const face of lists) await compare(face, 'payments()', all);
    for (const face of payments) await compare(face, 'payment()', own);
    for (const [face, ask, which] of numbers)
      wrong.push(...difference(face, nonZero(await ask(looked)), 'the payments', nonZero(which(facts))));
  }
  const orders = new Set<string>();
  for (const { merchant_reference, transaction_type } of looked.keys) {
    const payment = await inbox.payment(merchant_reference, transaction_type);
    if (payment?.order !== undefined && !payment.isArchived) orders.add(nameOf(payment));
  }
  for (const [filter, names] of partsOf(all, orders)) {
    const found = [...(await listed(inbox, [filter])).keys()].toSorted().join();
    if (found !== names.toSorted().join())
      wrong.push(`payments(${JSON.stringify(filter)}) has [${found}], not [${names.toSorted()}]`);
  }
  return wrong;
}
