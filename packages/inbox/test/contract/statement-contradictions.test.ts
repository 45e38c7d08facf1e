import { expect, test } from 'vitest';
import { postgres } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { poolShop } from '../support/pool-shop.ts';
import { money, newShop, REPLACE } from '../support/shop.ts';
import { APPLY, countsOf, DRY, row } from '../support/statement-rows.ts';
import { after, watchedStore } from '../support/store.ts';

// Threat A56: nothing that the file itself contradicts is credited.
test.each(ENGINES)(
  'an imported statement on %s: nothing is credited that the same file takes back, or that contradicts itself, in any order',
  async (engine) => {
    const { inbox, sell } = await newShop(engine);
    await sell('PAID');
    for (const reference of ['A', 'B']) await inbox.expect(money(reference));
    const out = { direction: 'out' } as const;
    const reversed = { transaction_status: 'REVERSED' };
    for (const more of [
      row('A', reversed),
      row('A', out),
      row('A', { ...reversed, internal_reference: 'INT-R' }),
      row('A', { ...out, amount: '200' }),
      row('A', { transaction_status: 'FAILED' }),
      // Of another type, and of another id.
      row('A', { ...out, transaction_type: 'REFUND', internal_reference: 'INT-R', amount: '200' }),
      row('A', { ...reversed, transaction_type: 'REFUND', internal_reference: 'INT-R' }),
      // One id on two orders.
      row('B', { internal_reference: 'INT-A' }),
    ])
      for (const rows of [
        [row('A'), more],
        [more, row('A')],
      ]) {
        const { applied, isClean, counts } = await inbox.reconcileStatement(rows, APPLY);
        expect({ applied, isClean }, JSON.stringify(rows)).toEqual({ applied: 0, isClean: false });
        expect(counts.contradicted, JSON.stringify(rows)).toBeGreaterThan(0);
      }
    expect(await inbox.reports({ merchant_reference: 'A' })).toEqual([]);
    // What was settled here, credit and debit together are settled; a pending line came before.
    for (const more of [
      row('PAID', out),
      row('PAID', reversed),
      row('PAID', { transaction_status: 'PENDING' }),
    ])
      for (const rows of [
        [row('PAID'), more],
        [more, row('PAID')],
      ])
        expect(await inbox.reconcileStatement(rows, DRY), JSON.stringify(more)).toMatchObject({
          isClean: true,
          applied: 0,
        });
    // A collection that went out is none: perhaps the columns of credit and debit are exchanged.
    for (const reference of ['A', 'PAID']) {
      const exchanged = await inbox.reconcileStatement([row(reference, out)], APPLY);
      expect(exchanged).toMatchObject({ applied: 0, isClean: false, counts: { money_out: 1 } });
    }
    // An expected payout is one.
    await inbox.expect({ ...money('OUT'), transaction_type: 'PAYOUT' });
    const payout = row('OUT', { ...out, transaction_type: 'PAYOUT' });
    expect(await inbox.reconcileStatement([payout], DRY)).toMatchObject({ applied: 1 });
    const twice = await inbox.reconcileStatement([payout, payout], DRY);
    expect(twice).toMatchObject({ applied: 0, counts: { duplicate: 2 } });
    // An id that is known here of another order.
    const stolen = await inbox.reconcileStatement([row('B', { internal_reference: 'INT-PAID' })], APPLY);
    expect(countsOf(stolen)).toMatchObject({ contradicted: 1 });
    // Control.
    expect(await inbox.reconcileStatement([row('A'), row('B')], DRY)).toMatchObject({ applied: 2 });
  },
);

test.each(ENGINES)(
  'an imported statement on %s: an id that a spreadsheet has changed settles nothing, and the verdict says what it did',
  async (engine) => {
    const { inbox, sell, deliver } = await newShop(engine);
    await inbox.expect(money('ZEROS'));
    await deliver(paid('ZEROS', 500, { internal_reference: '000000123456' }));
    await sell('B');
    await inbox.expect(money('A'));
    for (const [internal_reference, detail] of [
      ['1.23457E+15', 'wrote its internal_reference with an exponent'],
      ['1,2E+11', 'wrote its internal_reference with an exponent'],
      ['654321', 'removed leading zeros from its internal_reference'],
      ['123456789012345000', 'rounded its internal_reference to 15 digits'],
    ] as const) {
      const rows = [row('A', { internal_reference }), row('B', { internal_reference })];
      const { applied, samples } = await inbox.reconcileStatement(rows, APPLY);
      // That B was paid by another transaction is not shown by an id that is damaged.
      for (const merchant_reference of ['A', 'B'])
        expect(samples, internal_reference).toContainEqual(
          expect.objectContaining({
            ...{ merchant_reference, verdict: 'damaged_id', detail: expect.stringContaining(detail) },
          }),
        );
      expect(applied).toBe(0);
    }
    // Control: as long as the others, with letters, and a long one whose end is not only zeros.
    for (const internal_reference of ['765432123456', 'A654321', '123456789012345678'])
      expect(
        await inbox.reconcileStatement([row('A', { internal_reference })], DRY),
        internal_reference,
      ).toMatchObject({ applied: 1 });
    const exact = row('X', { internal_reference: '123456789012345678' });
    const rounded = row('A', { internal_reference: '223456789012345000' });
    expect(await inbox.reconcileStatement([exact, rounded], DRY)).toMatchObject({ applied: 1 });
  },
);

test('an expectation that is replaced while a statement is applied is not settled by its line', async () => {
  const { inbox, open, pool, schema } = poolShop();
  await inbox.expect(money('A'));
  const isJudging = (text: string): boolean => text.includes('settled_signed');
  const store = watchedStore(
    postgres(pool, { schema }),
    after(isJudging, () => inbox.expect({ ...money('A'), amount: '700' }, REPLACE)),
  );
  const report = await open({ store }).reconcileStatement([row('A')], APPLY);
  expect([report.applied, await inbox.reports()]).toEqual([0, []]);
});
