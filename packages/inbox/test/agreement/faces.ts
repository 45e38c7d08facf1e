import type { Inbox, PaymentFilter } from '../../src/index.ts';
import type { PaymentSummary } from '../../src/operator/payment-summary.ts';
import type { PaymentKey } from '../../src/work/verdict/payment.ts';
import { PAYMENT_STATES } from '../../src/work/verdict/payment-state.ts';
import type { AnyTransaction } from '../support/merchant.ts';

/** What a face says of a payment, such as `held, amount_mismatch: expects UGX 500`. */
export type Said = string;

/** One way to look at the payments of an inbox: what it says of each, by its key. */
export type Face = (inbox: Inbox<AnyTransaction>, keys: readonly PaymentKey[]) => Promise<Map<string, Said>>;

export const nameOf = ({ merchant_reference, transaction_type }: PaymentKey): string =>
  `${merchant_reference} ${transaction_type}`;

export function saidOf({ state, needs, expected, settled }: PaymentSummary): Said {
  const money = settled ?? expected;
  const verb = settled === undefined ? 'expects' : 'settled';
  const about = money === undefined ? 'nothing' : `${verb} ${money.currency} ${money.amount}`;
  return `${state}${needs === undefined ? '' : `, ${needs}`}: ${about}`;
}

async function listed(
  inbox: Inbox<AnyTransaction>,
  filters: readonly PaymentFilter[],
): Promise<Map<string, Said>> {
  const found = new Map<string, Said>();
  for (const filter of filters)
    for await (const payment of inbox.payments(filter)) {
      const name = nameOf(payment);
      if (found.has(name)) throw new Error(`${name} is listed twice: ${JSON.stringify(filter)}.`);
      found.set(name, saidOf(payment));
    }
  return found;
}

/** Every face that shows all payments that are not archived as a whole. The command and the console belong here. */
export const LISTS: Readonly<Record<string, Face>> = {
  'payments()': (inbox) => listed(inbox, [{}]),
  'payments({ limit: 1 })': (inbox) => listed(inbox, [{ limit: 1 }]),
  'payments({ state }) for each': (inbox) =>
    listed(
      inbox,
      PAYMENT_STATES.map((state) => ({ state, limit: 2 })),
    ),
};

/** What the page of each payment says; nothing of one that is not known. */
export const paymentOf: Face = async (inbox, keys) => {
  const found = new Map<string, Said>();
  for (const { merchant_reference, transaction_type } of keys) {
    const payment = await inbox.payment(merchant_reference, transaction_type);
    if (payment !== undefined) found.set(nameOf(payment), saidOf(payment));
  }
  return found;
};

/** Lists of a part of the payments, and which of those that are listed belong in it. */
export function partsOf(all: ReadonlyMap<string, Said>): readonly [PaymentFilter, string[]][] {
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
    [{ state: ['overdue', 'failed'], limit: 1 }, names((said) => /^(overdue|failed)/.test(said))],
  ];
  for (const reason of reasons)
    parts.push([{ reason: reason as PaymentFilter['reason'] }, names((said) => needs(said) === reason)]);
  return parts;
}

/**
 * What is wrong with how the faces answer together; empty if they agree.
 *
 * @param isThorough Also asks every list, in pages.
 */
export async function disagreements(
  inbox: Inbox<AnyTransaction>,
  keys: readonly PaymentKey[],
  isThorough: boolean,
): Promise<string[]> {
  const wrong: string[] = [];
  const own = await paymentOf(inbox, keys);
  const all = (await LISTS['payments()']?.(inbox, keys)) ?? new Map<string, Said>();
  for (const [name, said] of own)
    if ((all.get(name) ?? said) !== said)
      wrong.push(`payments() says of ${name} [${all.get(name)}], and payment() [${said}]`);
  for (const [face, ask] of isThorough ? Object.entries(LISTS) : []) {
    const [one, other] = [await ask(inbox, keys), all].map((each) => JSON.stringify([...each].toSorted()));
    if (one !== other) wrong.push(`${face} says ${one}, and payments() ${other}`);
  }
  for (const [filter, names] of isThorough ? partsOf(all) : []) {
    const found = [...(await listed(inbox, [filter])).keys()].toSorted().join();
    if (found !== names.toSorted().join())
      wrong.push(`payments(${JSON.stringify(filter)}) has [${found}], not [${names.toSorted()}]`);
  }
  const { archived: _, needed, ...counts } = await inbox.counts();
  for (const [state, count] of Object.entries({ ...counts, ', ': needed })) {
    const found = [...all.values()].filter((said) =>
      state === ', ' ? said.includes(', ') : said.startsWith(state),
    );
    if (found.length !== count)
      wrong.push(`counts() has ${count} [${state}], and payments() ${found.length}`);
  }
  return wrong;
}
