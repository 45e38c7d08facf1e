/** A handler that ends without an error and changes nothing settles a payment that no order knows of. */
import { expect, test } from 'vitest';
import type { Handled } from '../../src/index.ts';
import { storyOf } from '../../src/operator/payments/story.ts';
import { CHANGED_NOTHING } from '../../src/work/attempt/apply.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type Merchant, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, money } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

type Run = (merchant: Merchant) => (handled: Handled<AnyTransaction, 'paid'>) => unknown;

const NOTHING: readonly (readonly [string, Run])[] = [
  ['that was not awaited, and is lazy', () => () => undefined],
  ['that matches no row', (merchant) => (handled) => merchant.uncredit(handled.tx, 'none')],
  ['of another connection', (merchant) => () => merchant.query("insert into credit values ('X', '1')", [])],
];

async function shop(engine: (typeof ENGINES)[number], run: Run, options = {}) {
  const merchant = await newMerchant(engine);
  const told: unknown[] = [];
  const inbox = merchant.open({ ...LATER, onError: (error, { kind }) => told.push([kind, String(error)]) });
  inbox.handle('paid', run(merchant), options);
  const pay = async (reference: string) => {
    await inbox.expect(money(reference));
    await inbox.route.onCallback(paid(reference, 500));
    await workOff(inbox);
  };
  return { merchant, inbox, told, pay };
}

// SQLite has one writer: another connection would wait for this transaction.
const CASES = ENGINES.flatMap((engine) =>
  NOTHING.slice(0, engine === 'sqlite' ? 2 : 3).map(([what, run]) => [engine, what, run] as const),
);
test.each(CASES)(
  'on %s, a handler with a statement %s is told once, and its payment says so',
  async (engine, _what, run) => {
    const { inbox, told, pay } = await shop(engine, run);
    await pay('A');
    await pay('B');
    expect(told).toEqual([
      ['handler_changed_nothing', expect.stringContaining("The handler for 'paid' ended without an error")],
    ]);
    for (const reference of ['A', 'B']) {
      const payment = await inbox.payment(reference);
      expect(payment).toMatchObject({ state: 'paid' });
      expect(payment && storyOf(payment).map(({ text }) => text)).toContain(CHANGED_NOTHING);
    }
  },
);

test.each(ENGINES)(
  'on %s, a handler that changes something, or says that it does not, is not told',
  async (engine) => {
    for (const [run, options] of [
      [creditIn, {}],
      [NOTHING[0]?.[1] ?? creditIn, { changesNothing: true }],
    ] as const) {
      const { inbox, told, pay } = await shop(engine, run, options);
      for (const reference of ['A', 'B']) await pay(reference);
      expect(told).toEqual([]);
      expect(await inbox.payment('A')).toMatchObject({ state: 'paid', reports: [{ lastError: undefined }] });
    }
  },
);
