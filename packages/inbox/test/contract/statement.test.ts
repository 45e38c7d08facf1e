import { ConfigurationError } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import { aesGcm, type StatementOptions, type StatementReport, type StatementRow } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { DAY_MS, money, NOTE, newShop, order, REPLACE } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

/** The row of `paid(reference, 500)`. */
const row = (merchant_reference: string, more: Partial<StatementRow> = {}): StatementRow => ({
  merchant_reference,
  internal_reference: `INT-${merchant_reference}`,
  transaction_type: 'COLLECTION',
  transaction_status: 'COMPLETED',
  currency: 'UGX',
  amount: '500',
  ...more,
});
const PERIOD = { from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + DAY_MS) };
const DRY: StatementOptions = { ...NOTE, ...PERIOD };
const APPLY: StatementOptions = { ...DRY, dryRun: false };
/** The verdicts that occur, with their counts. */
const countsOf = ({ counts }: StatementReport) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
const without = (name: keyof StatementRow, from = row('A')): StatementRow => {
  const { [name]: _, ...rest } = from;
  return rest as StatementRow;
};

// Threat A56, on both engines.
describe.each(ENGINES)('a statement that is imported, on %s', (engine) => {
  test('every row and every settlement without a row gets a verdict, and a dry run changes nothing', async () => {
    const { merchant, inbox } = await newShop(engine);
    await order(inbox, 'same', 'amount', 'currency', 'status', 'another', 'absent');
    await inbox.receive(paid('waits', 500));
    await inbox.expect(money('waits', '700'));
    for (const reference of ['lost', 'failed', 'nameless']) await inbox.expect(money(reference));
    await workOff(inbox);
    const before = await inbox.list({ limit: 1000 });
    const report = await inbox.reconcileStatement(
      [
        row('same', { amount: '500.00' }),
        row('amount', { amount: '5000' }),
        row('currency', { currency: 'KES' }),
        row('status', { transaction_status: 'REVERSED' }),
        row('another', { internal_reference: 'INT-2' }),
        row('waits', { amount: '700' }),
        row('lost'),
        row('failed', { transaction_status: 'FAILED' }),
        without('internal_reference', row('nameless')),
        row('unknown'),
      ],
      DRY,
    );
    expect(countsOf(report)).toEqual({
      settled: 1,
      not_paid: 1,
      paid_without_callback: 2,
      waiting_here: 1,
      absent_from_statement: 1,
      other_amount: 1,
      other_currency: 1,
      other_status: 1,
      paid_by_another: 1,
      not_expected: 1,
    });
    expect(report).toMatchObject({ dryRun: true, rows: 10, applied: 1, isClean: false });
    const sampled = Object.fromEntries(report.samples.map((each) => [each.merchant_reference, each]));
    expect(sampled['absent']).toMatchObject({
      row: undefined,
      transitionId: paid('absent', 500).transitionId,
    });
    expect(sampled['lost']).toMatchObject({ row: 7, transitionId: paid('lost', 500).transitionId });
    expect(sampled['nameless']).toMatchObject({ detail: expect.stringContaining('no internal_reference') });
    expect(sampled['waits']).toMatchObject({ detail: 'quarantined' });
    expect(await inbox.list({ limit: 1000 })).toEqual(before);
    const differs = merchant.events.filter(({ name }) => name === 'statement.differs');
    expect(differs).toContainEqual({ name: 'statement.differs', verdict: 'absent_from_statement', count: 1 });
    expect(JSON.stringify(differs)).not.toMatch(/500|INT-|ORD/);
  });

  test('a payment whose callback was lost is settled by its row, and the late callback is a repetition', async () => {
    const { merchant, inbox, show } = await newShop(engine);
    await order(inbox, 'A');
    await inbox.expect(money('B'));
    await workOff(inbox);
    const report = await inbox.reconcileStatement([row('A'), row('B')], APPLY);
    expect(report).toMatchObject({ applied: 1, isClean: true });
    expect(await merchant.credits()).toEqual(['A 500']);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
    expect(await show('B')).toMatchObject({
      state: 'settled',
      bodies: [{ keyId: 'statement', isSettled: true, text: expect.stringContaining('"amount":"500"') }],
      actions: [{ action: 'statement', ...NOTE }],
    });
    await inbox.receive(paid('B', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }, { state: 'settled' }]);
    // The same file again applies nothing.
    expect(await inbox.reconcileStatement([row('A'), row('B')], APPLY)).toMatchObject({
      applied: 0,
      isClean: true,
    });
  });

  test('concurrent imports of one statement settle each payment once', async () => {
    const { merchant, inbox } = await newShop(engine);
    const references = ['A', 'B', 'C'];
    for (const reference of references) await inbox.expect(money(reference));
    const rows = references.map((reference) => row(reference));
    const imports = [1, 2, 3].map(() => inbox.reconcileStatement(rows, APPLY));
    const callbacks = references.map((reference) => inbox.receive(paid(reference, 500)));
    const reports = await Promise.all(imports);
    await Promise.all(callbacks);
    await workOff(inbox);
    await inbox.reconcileStatement(rows, APPLY);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500', 'B 500', 'C 500']);
    expect(reports.reduce((sum, { applied }) => sum + applied, 0)).toBeLessThanOrEqual(3);
  });

  test('a row that contradicts an expectation, or that no callback could match, is not applied', async () => {
    const { merchant, inbox } = await newShop(engine, {
      completedEvents: ['transaction.completed', 'other'],
    });
    await inbox.expect(money('A'));
    await inbox.expect(money('B'));
    await inbox.expect(money('B', '600'), REPLACE);
    await inbox.expect({ ...money('P'), transaction_type: 'PAYOUT' });
    const event = 'transaction.completed';
    const rows: StatementRow[][] = [
      [row('A', { amount: '500.01', event })],
      [row('A', { amount: '5', event })],
      [row('A', { currency: 'ugx', event })],
      [row('A', { transaction_status: 'completed', event })],
      [row('B', { event })],
      [row('P', { event })],
      [row('a', { event })],
      // Which of two events a callback would have is not known.
      [row('A')],
      [without('internal_reference', row('A', { event }))],
      // Paid twice, or read twice from a broken export: a person decides.
      [row('A', { event }), row('A', { event, internal_reference: 'INT-2' })],
    ];
    for (const given of rows) {
      expect(await inbox.reconcileStatement(given, APPLY), JSON.stringify(given)).toMatchObject({
        applied: 0,
      });
    }
    expect(await inbox.list()).toEqual([]);
    // Control: the right row is applied.
    const right = row('A', { event });
    expect(await inbox.reconcileStatement([right, { ...right }], APPLY)).toMatchObject({
      applied: 0,
      counts: { duplicate: 2 },
    });
    expect(await inbox.reconcileStatement([right], APPLY)).toMatchObject({ applied: 1 });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500']);
  });

  test.each([
    '1,000',
    '1.000,00',
    '1 000',
    '5e2',
    '+500',
    '-500',
    ' 500',
    '0500',
    '500.',
    '.5',
    '500 UGX',
    '٥٠٠',
    'NaN',
    '',
    '9'.repeat(41),
  ])('the amount %j is in another notation, and its whole file applies nothing', async (amount) => {
    const { inbox } = await newShop(engine);
    await inbox.expect(money('A'));
    const report = await inbox.reconcileStatement([row('A'), row('B', { amount })], APPLY);
    expect(report).toMatchObject({
      applied: 0,
      isClean: false,
      counts: { malformed: 1, paid_without_callback: 1 },
    });
    expect(await inbox.list()).toEqual([]);
  });

  test('a row that lacks a field, or is of another account, has a verdict, and then nothing of its file is applied', async () => {
    const { inbox } = await newShop(engine);
    await inbox.expect(money('A'));
    const lacking = [
      ...(
        ['merchant_reference', 'transaction_type', 'transaction_status', 'currency', 'amount'] as const
      ).map((name) => without(name)),
      row('A', { internal_reference: '' }),
      row('A', { event: '' }),
      row('A', { amount: 500 as never }),
      null as never,
    ];
    for (const given of lacking) {
      const report = await inbox.reconcileStatement([row('A'), given], APPLY);
      expect(report, JSON.stringify(given)).toMatchObject({ applied: 0, counts: { malformed: 1 } });
    }
    const others = { ...APPLY, account: 'shop-1' };
    for (const account of ['shop-2', undefined]) {
      const report = await inbox.reconcileStatement([row('A', { account })], others);
      expect(report).toMatchObject({ applied: 0, counts: { other_account: 1 } });
    }
    expect(await inbox.reconcileStatement([row('A', { account: 'shop-1' })], others)).toMatchObject({
      applied: 1,
    });
  });

  test('a truncated statement is reported: a settlement without a row is absent', async () => {
    const { merchant, inbox } = await newShop(engine);
    await order(inbox, 'A', 'B');
    await inbox.expect({ ...money('P'), transaction_type: 'PAYOUT' });
    await inbox.receive(paid('P', 500, { transaction_type: 'PAYOUT' }));
    await workOff(inbox);
    const absent = async (rows: StatementRow[], more: Partial<StatementOptions> = {}) =>
      (await inbox.reconcileStatement(rows, { ...DRY, ...more })).counts.absent_from_statement;
    expect(await absent([])).toBe(3);
    expect(await absent([row('A')])).toBe(2);
    expect(await absent([row('A')], { transaction_type: 'COLLECTION' })).toBe(1);
    await merchant.advance(2 * DAY_MS);
    expect(await absent([])).toBe(0);
  });

  test('a failed attempt beside a paid one of the same reference contradicts nothing', async () => {
    const { inbox } = await newShop(engine);
    await order(inbox, 'A');
    await workOff(inbox);
    const failed = { transaction_status: 'FAILED' };
    const attempts = [row('A'), row('A', { ...failed, internal_reference: 'INT-0' })];
    expect(countsOf(await inbox.reconcileStatement(attempts, DRY))).toEqual({ settled: 1, not_paid: 1 });
    const nameless = attempts.map((each) => without('internal_reference', each));
    expect(countsOf(await inbox.reconcileStatement(nameless, DRY))).toEqual({ settled: 1, not_paid: 1 });
    // Control: without the paid row it does.
    expect(countsOf(await inbox.reconcileStatement(nameless.slice(1), DRY))).toEqual({ other_status: 1 });
  });

  test('archived payments count as before: settled, contradicted, absent, and never settled again', async () => {
    const { merchant, inbox } = await newShop(engine);
    await order(inbox, 'A', 'B');
    await workOff(inbox);
    await merchant.advance(2 * DAY_MS);
    expect(await inbox.prune({ archiveOlderThanDays: 1 })).toMatchObject({ archived: 2 });
    const earlier = { ...APPLY, from: new Date(Date.now() - 3 * DAY_MS) };
    const reports = [
      await inbox.reconcileStatement([row('A')], earlier),
      await inbox.reconcileStatement(
        [row('A', { amount: '5' }), row('B', { internal_reference: 'INT-2' })],
        earlier,
      ),
    ];
    expect(reports.map(countsOf)).toEqual([
      { settled: 1, absent_from_statement: 1 },
      { other_amount: 1, paid_by_another: 1 },
    ]);
    expect(reports[0]?.samples).toMatchObject([{}, { merchant_reference: 'B' }]);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
  });

  test('the row is kept as bodies are: sealed with encryption, and only its claims with claims', async () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const encryption = aesGcm({ current: 'k1', keys: { k1: key } });
    for (const [options, text] of [
      [{ encryption }, expect.stringContaining('"amount":"500"')],
      [{ bodies: 'claims' }, expect.not.stringContaining('ORD')],
    ] as const) {
      const { merchant, inbox, show } = await newShop(engine, options);
      await inbox.expect(money('ORD-7'));
      expect(await inbox.reconcileStatement([row('ORD-7')], APPLY)).toMatchObject({ applied: 1 });
      await workOff(inbox);
      expect(await merchant.credits()).toEqual(['ORD-7 500']);
      expect((await show('ORD-7'))?.bodies).toMatchObject([{ text, keyId: 'statement' }]);
      const stored = await merchant.query(`select content from ${merchant.table('body')}`);
      expect(JSON.stringify(stored)).not.toContain('ORD-7');
    }
  });

  test('wrong options are refused by name', async () => {
    const { inbox } = await newShop(engine);
    const wrong: [object, string][] = [
      [{ by: '' }, 'by'],
      [{ note: undefined }, 'note'],
      [{ from: 'yesterday' }, 'from'],
      [{ dryRun: 'no' }, 'dryRun'],
      [{ dry: false }, 'dry'],
    ];
    for (const [options, option] of wrong) {
      await expect(inbox.reconcileStatement([], { ...DRY, ...options })).rejects.toMatchObject({ option });
    }
    await expect(inbox.reconcileStatement({} as never, DRY)).rejects.toThrow(ConfigurationError);
  });

  test('a statement of thousands of rows has a verdict for each, and 20 samples of each verdict', async () => {
    const { inbox } = await newShop(engine);
    const rows = Array.from({ length: 1203 }, (_, index) => row(`R${index}`));
    await inbox.expect(money('R1202'));
    const report = await inbox.reconcileStatement(rows, DRY);
    expect(countsOf(report)).toEqual({ not_expected: 1202, paid_without_callback: 1 });
    expect(report.samples).toHaveLength(21);
  });
});
