import type { Expectation } from '../../src/index.ts';
import { paid } from './callbacks.ts';
import { newConsoleShop } from './console.ts';
import { seeded } from './seeded.ts';
import { actOn, DAY_MS, REPLACE, type Shop } from './shop.ts';
import { workOff } from './until.ts';

const DAYS = 30;
/** A currency, how many decimals its amounts have, and the greatest of them. */
const CURRENCIES = [
  ['UGX', 0, 5_000_000],
  ['UGX', 0, 90_000],
  ['KES', 2, 40_000],
  ['USD', 2, 900],
] as const;
const PROVIDERS = ['example_mobile_money', 'example_bank', 'example_card'];

/** What happens to a payment that is expected. */
interface Happens {
  readonly reference: string;
  readonly amount: number;
  readonly money: Expectation;
  /** A callback, with these changes. */
  readonly report: (claimed: number, payload?: object) => Promise<unknown>;
}

type Fate = (shop: Shop, happens: Happens) => Promise<unknown>;
const paidInFull: Fate = (_, { report, amount }) => report(amount);

/** A fate of each kind that an operator meets, more often if it is more frequent. */
const FATES: readonly Fate[] = [
  ...Array.from({ length: 12 }, () => paidInFull),
  (_, { report, amount }) => report(amount, { transaction_status: 'FAILED' }),
  (_, { report, amount }) => report(amount * 10),
  (_, { report, amount }) => report(amount, { transaction_amount: Math.ceil(amount / 2) }),
  (_, { report, amount }) =>
    report(amount, { request_amount: String(amount), transaction_amount: String(amount) }),
  (_, { report, amount }) => report(amount, { request_currency: 'EUR', transaction_currency: 'EUR' }),
  (_, { report }) => report(0, { request_amount: undefined }),
  // A second transaction pays the same.
  async ({ inbox }, { report, amount, reference }) => {
    await report(amount);
    await workOff(inbox);
    await report(amount, { internal_reference: `INT-${reference}-2` });
  },
  async ({ inbox }, { report, amount }) => {
    await report(amount);
    await workOff(inbox);
    await report(amount, { transaction_status: 'REVERSED' });
  },
  // Lost, so that it is overdue on the next day.
  async () => undefined,
  async ({ inbox }, { money }) => inbox.expect({ ...money, deadline: new Date(4e12) }, REPLACE),
  ({ inbox }, { reference }) => actOn(inbox, reference, 'cancel'),
  async ({ inbox }, { reference, report, amount }) => {
    await actOn(inbox, reference, 'cancel');
    await report(amount);
  },
];

/** A shop with this many payments in 30 days: of three currencies and two types, with what goes wrong and long references. */
export async function newVariedShop(count: number, seed = 1): Promise<Shop> {
  const random = seeded(seed);
  const one = <T>(all: readonly [T, ...T[]] | readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const shop = await newConsoleShop();
  const { inbox, merchant } = shop;
  inbox.handle('reversed', () => undefined);
  for (let day = 0; day < DAYS; day += 1) {
    const mine = Math.round(((day + 1) * count) / DAYS) - Math.round((day * count) / DAYS);
    for (let number = 0; number < mine; number += 1) {
      const [currency, decimals, most] = one(CURRENCIES);
      const amount = Number((1 + random() * most).toFixed(decimals));
      const long = random() < 0.1 ? `-${'a-very-long-reference-of-another-system-'.repeat(2)}${number}` : '';
      const prefix = random() < 0.04 ? 'DEAD' : 'ORD';
      const reference = `${prefix}-${10_000 + day * 100 + number}${long}`;
      const transaction_type = random() < 0.2 && prefix === 'ORD' ? 'PAYOUT' : 'COLLECTION';
      const provider_code = one(PROVIDERS);
      const charge = Number((amount * 0.02).toFixed(decimals));
      const order = random() < 0.1 ? { id: `INV-${day}`, total: most * 20 } : undefined;
      const money = {
        ...{ merchant_reference: reference, transaction_type, currency, amount: String(amount), order },
        deadline: new Date(Date.now() + DAY_MS / 2),
      };
      const report: Happens['report'] = (claimed, payload = {}) =>
        inbox.route.onCallback(
          paid(reference, claimed, {
            ...{ transaction_type, request_currency: currency, transaction_currency: currency },
            ...{ provider_code, transaction_charge: charge, ...payload },
          }),
        );
      // Some are reported, and nothing is expected.
      if (random() < 0.05) await report(amount);
      else {
        await inbox.expect(
          order === undefined || currency !== 'UGX' ? { ...money, order: undefined } : money,
        );
        await (transaction_type === 'PAYOUT' ? paidInFull : one(FATES))(shop, {
          reference,
          amount,
          money,
          report,
        });
      }
      await workOff(inbox);
    }
    if (day < DAYS - 1) await merchant.advance(DAY_MS);
  }
  return shop;
}
