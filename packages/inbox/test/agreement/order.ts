import { callback, type Payload } from '../support/callbacks.ts';
import type { Merchant } from '../support/merchant.ts';
import { seeded } from '../support/seeded.ts';
import { DAY_MS, LATER } from '../support/shop.ts';
import { workOff } from '../support/until.ts';
import { advance } from './play.ts';
import { saidOf } from './said.ts';

const REFERENCE = 'ORD-1';
const EXPECTATION = { merchant_reference: REFERENCE, currency: 'UGX', amount: '500' };
const AMOUNTS = [500, 500, 700, '500'] as const;

/** What arrives: the expectation, or a report of one of up to three transactions. */
type Arrival = 'expectation' | { readonly payload: Payload; readonly event: string };

/**
 * Of each transaction one status, in up to two bodies: statuses of one transaction order each other. So do the failure of one and
 * what another is still to bring, so that only one of these two occurs.
 */
function arrivalsOf(random: () => number): Arrival[] {
  const one = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  const other = one(['FAILED', 'PENDING']);
  const arrivals: Arrival[] = random() < 0.8 ? ['expectation'] : [];
  for (let transaction = 1 + Math.floor(random() * 3); transaction > 0; transaction -= 1) {
    const transaction_status = one(['COMPLETED', 'COMPLETED', other, 'ODD']);
    const own = {
      merchant_reference: REFERENCE,
      internal_reference: `INT-${transaction}`,
      transaction_status,
    };
    const event = transaction_status === other ? 'transaction.changed' : 'transaction.completed';
    for (let body = 1 + Math.floor(random() * 2); body > 0; body -= 1) {
      const amount = one(AMOUNTS);
      arrivals.push({ payload: { ...own, request_amount: amount, transaction_amount: amount }, event });
    }
  }
  return arrivals;
}

/** Plays the same arrivals in three orders, with a worker between some of them. @returns what differs in the end. */
export async function playOrders(
  merchant: Merchant,
  store: ReturnType<Merchant['newStore']>,
  seed: number,
): Promise<string[]> {
  const random = seeded(seed);
  const arrivals = arrivalsOf(random);
  const isFailedHandled = random() < 0.5;
  const outcomes: string[] = [];
  for (const order of ['first', 'second', 'third']) {
    const account = `${order}-${seed}`;
    const inbox = merchant.open({ ...LATER, store: { ...store, close: async () => undefined }, account });
    inbox.handle('paid', ({ tx, payment }) => merchant.credit(tx, account, payment.settled?.amount ?? ''));
    if (isFailedHandled) inbox.handle('failed', () => undefined);
    const places = new Map(arrivals.map((arrival) => [arrival, random()]));
    for (const arrival of arrivals.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))) {
      if (arrival === 'expectation') await inbox.expect(EXPECTATION);
      else await inbox.route.onCallback(callback(arrival.payload, { event: arrival.event, account }));
      if (order !== 'first' && random() < 0.4) await workOff(inbox);
    }
    // What a report waits for may have come since: it is looked at again.
    for (let day = 0; day < 3; day += 1) {
      await workOff(inbox);
      await advance(merchant, account, DAY_MS);
    }
    const payment = await inbox.payment(REFERENCE);
    const credits = await merchant.query('select amount from credit where reference = $1', [account]);
    outcomes.push(`${payment && saidOf(payment)}; credits ${credits.map((each) => each['amount'])}`);
  }
  const isSame = outcomes.every((outcome) => outcome === outcomes[0]);
  return isSame ? [] : [`seed ${seed}, ${JSON.stringify(arrivals)}: ${outcomes.join(' | ')}`];
}
