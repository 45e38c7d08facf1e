import { InvalidStateError, StaleError } from '@payment-service/core';
import { expect, test } from 'vitest';
import type { Act } from '../../src/index.ts';
import { evidence, paid } from '../support/callbacks.ts';
import {
  actOn,
  actOnReport,
  creditIn,
  DAY_MS,
  LATER,
  money,
  NOTE,
  newShop,
  offeredAct,
  REPLACE,
} from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const { transitionId } = paid('A', 500);

test('retry() gives a dead transition all its attempts again, and records who asked and why', async () => {
  let isBroken = true;
  const retry = { ...LATER.retry, attempts: 2 };
  const shop = await newShop('sqlite', { retry }, async (transition) => {
    if (isBroken) throw new Error('broken');
    await creditIn(shop.merchant)(transition);
  });
  const { merchant, inbox, sell, show, workLater } = shop;
  await sell('A');
  for (const actions of [[], [{ action: 'retry', ...NOTE, at: expect.any(Date) }]]) {
    for (let round = 0; round < 3; round += 1) await workLater(DAY_MS);
    expect(await show('A')).toMatchObject({ state: 'dead', attempts: 2, actions });
    await actOnReport(inbox, transitionId, 'retry');
  }
  isBroken = false;
  await workOff(inbox);
  const settled = await show('A');
  expect(settled).toMatchObject({ state: 'settled', lastError: undefined });
  expect(settled?.actions).toHaveLength(2);
  await expect(actOnReport(inbox, transitionId, 'retry')).rejects.toThrow(InvalidStateError);
  expect(await merchant.credits()).toHaveLength(1);
});

test('a closed transition that was never applied is reopened, and one that was applied needs an act of its own', async () => {
  const { merchant, inbox, pay, show } = await newShop('sqlite', LATER);
  await pay('A');
  await actOnReport(inbox, transitionId, 'close');
  await inbox.expect(money('A'));
  await pay('A', 501);
  expect(await show('A')).toMatchObject({ state: 'resolved', reason: 'closed_by_operator' });
  expect(await merchant.credits()).toEqual([]);
  await expect(actOnReport(inbox, transitionId, 'applyAgain')).rejects.toThrow('not possible');
  await actOnReport(inbox, transitionId, 'apply');
  for (const name of ['apply', 'applyAgain'] as const)
    await expect(actOnReport(inbox, transitionId, name)).rejects.toThrow('not possible');
  await workOff(inbox);
  await pay('A');
  expect(await merchant.credits()).toHaveLength(1);
  await expect(actOnReport(inbox, transitionId, 'apply')).rejects.toThrow('not possible');
  await actOnReport(inbox, transitionId, 'applyAgain');
  await workOff(inbox);
  expect(await merchant.credits()).toHaveLength(2);
  await expect(actOnReport(inbox, transitionId, 'close')).rejects.toThrow(InvalidStateError);
  const actions = ['close', 'apply', 'applyAgain'].map((action) => ({ action }));
  expect(await show('A')).toMatchObject({ state: 'settled', deliveries: 3, actions });
  // Closed before it was applied once more: it still was applied before.
  await actOnReport(inbox, transitionId, 'applyAgain');
  await actOnReport(inbox, transitionId, 'close');
  await expect(actOnReport(inbox, transitionId, 'apply')).rejects.toThrow('not possible');
  expect(await merchant.credits()).toHaveLength(2);
});

test('a late status is applied after all by an act of its own, and neither by a retry nor by another body', async () => {
  const { inbox, pay, sell, deliver } = await newShop('sqlite', LATER);
  const applied: string[] = [];
  for (const status of ['FAILED', 'PENDING'])
    inbox.handle(status === 'FAILED' ? 'failed' : 'status', ({ signed }) =>
      applied.push(signed.transaction_status),
    );
  for (const [transaction_status, state] of [
    ['FAILED', 'quarantined'],
    ['PENDING', 'superseded'],
  ] as const) {
    await sell(state);
    await pay(state, 500, { transaction_status });
    const late = paid(state, 501, { transaction_status });
    if (state === 'quarantined') await actOnReport(inbox, late.transitionId, 'retry');
    else await expect(actOnReport(inbox, late.transitionId, 'retry')).rejects.toThrow(InvalidStateError);
    await deliver(late);
    expect(await inbox.report(late.transitionId)).toMatchObject({ state, nextAt: undefined });
    expect(applied).not.toContain(transaction_status);
    await actOnReport(inbox, late.transitionId, 'apply');
    await workOff(inbox);
    expect(applied).toContain(transaction_status);
  }
});

test('the accepted amount of a body becomes the expectation, and is applied once', async () => {
  const { merchant, inbox, deliver, show } = await newShop('sqlite', LATER);
  await deliver(paid('A', 5_000_000), paid('A', 500), paid('A', 500, { transaction_amount: 499 }));
  expect((await show('A'))?.state).toBe('conflict');
  const offered = (await inbox.payment('A'))?.acts.filter(({ name }) => name === 'accept') ?? [];
  expect(offered.map(({ money: { amount } = { amount: '' }, compare }) => `${amount} ${compare}`)).toEqual([
    ...['5000000 both', '500 both', '499 transaction', '500 request'],
  ]);
  const [forged, accept] = offered;
  if (forged === undefined || accept === undefined) throw new Error('Nothing is offered.');
  for (const wrong of [
    { body: '0'.repeat(64) },
    { money: { currency: 'UGX', amount: '501' } },
    { name: 'cancel' },
  ])
    await expect(inbox.act({ ...accept, ...wrong } as Act, NOTE)).rejects.toMatchObject({
      code: 'invalid_state',
    });
  await inbox.act(accept, NOTE);
  await expect(inbox.act(accept, NOTE)).rejects.toThrow(StaleError);
  await workOff(inbox);
  await expect(actOnReport(inbox, transitionId, 'accept')).rejects.toThrow('not possible');
  expect(await merchant.credits()).toEqual(['A 500']);
  expect(await show('A')).toMatchObject({
    state: 'settled',
    actions: [{ action: 'accept', ...NOTE }],
    expectation: { amount: '500', settledBy: transitionId },
  });
});

test('another amount that arrives after a payment was canceled is accepted, and credited', async () => {
  const { merchant, inbox, deliver } = await newShop('sqlite', LATER);
  await inbox.expect(money('A'));
  await actOn(inbox, 'A', 'cancel');
  await deliver(paid('A', 300));
  await inbox.act(await offeredAct(inbox, 'A', 'accept', '300'), NOTE);
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['A 300']);
  expect(await inbox.payment('A')).toMatchObject({ state: 'paid', replaced: [{ amount: '500', ...NOTE }] });
});

test('of two bodies whose numbers a parser rounded, only the accepted one is as expected', async () => {
  const { inbox, deliver, show } = await newShop('sqlite', LATER);
  const exact = '1234567890123456.75';
  const rounded = (charge: number) =>
    paid(
      'A',
      1,
      { transaction_charge: charge },
      {
        isParsed: true,
        rewrite: (text) => text.replace(/(_amount":)1\b/g, `$1${exact}`),
      },
    );
  await inbox.expect(money('A', exact));
  await deliver(rounded(1), rounded(2));
  const act = await offeredAct(inbox, 'A', 'accept', exact);
  await inbox.act(act, NOTE);
  const bodies = (await show('A'))?.bodies ?? [];
  expect(bodies).toHaveLength(2);
  for (const { digest, request } of bodies) expect(request.amount).toBe(digest === act.body ? exact : null);
});

test('a body is accepted in place of the expectation, by either of its amounts', async () => {
  const { merchant, inbox, deliver, show } = await newShop('sqlite', LATER);
  for (const reference of ['A', 'B', 'C', 'D']) await inbox.expect(money(reference));
  const less = { transaction_amount: 300 };
  await deliver(paid('A', 500, less), paid('B', 600), paid('C', 500), paid('D', 600, less));
  expect((await inbox.payments({ reason: 'amount_mismatch' })).items).toHaveLength(3);
  for (const [reference, amount] of [
    ['A', '300'],
    ['B', '600'],
    ['D', '600'],
  ] as const)
    await inbox.act(await offeredAct(inbox, reference, 'accept', amount), NOTE);
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['A 300', 'B 600', 'C 500', 'D 600']);
  expect(await show('A')).toMatchObject({
    state: 'settled',
    expectation: {
      amount: '300',
      compare: 'transaction',
      replaced: [{ amount: '500', compare: 'both', ...NOTE }],
    },
    actions: [{ action: 'accept', ...NOTE }],
  });
});

test('what is refused says why, and what to do instead', async () => {
  const { merchant, inbox, deliver, sell } = await newShop('sqlite', LATER);
  await inbox.route.onAuthenticRefusal(evidence('ambiguous'));
  await workOff(inbox);
  const [{ transitionId: ambiguous = '' } = {}] = await inbox.reports();
  await sell('A', 'OLD');
  await inbox.expect(money('B', 7));
  await deliver(paid('B', 500), paid('C', 500, { transaction_amount: 400 }));
  await inbox.route.onCallback(paid('D', 500));
  const said: string[] = [];
  const refuse = async (refused: Promise<unknown>): Promise<void> =>
    void said.push(
      await refused.then(String, ({ name, message }) => `${name}: ${message.replace(/20\d\d-.* UTC/g, '…')}`),
    );
  const old = await offeredAct(inbox, 'C', 'close');
  await refuse(inbox.act({ ...old, revision: 'old' }, NOTE));
  await refuse(actOnReport(inbox, transitionId, 'retry'));
  await refuse(actOnReport(inbox, paid('D', 500).transitionId, 'apply'));
  await refuse(actOnReport(inbox, ambiguous, 'apply'));
  await refuse(actOnReport(inbox, transitionId, 'apply'));
  await refuse(actOnReport(inbox, paid('C', 500).transitionId, 'applyAgain'));
  await refuse(actOnReport(inbox, paid('C', 500).transitionId, 'accept', { ...NOTE, amount: '1' }));
  await refuse(inbox.expect(money('A', 7), REPLACE));
  await refuse(inbox.expect(money('B', 8)));
  await merchant.advance(2 * DAY_MS);
  await inbox.prune({ archiveOlderThanDays: 1 });
  await refuse(actOnReport(inbox, paid('OLD', 500).transitionId, 'apply'));
  await refuse(inbox.expect(money('OLD', 8)));
  expect(await inbox.payment('OLD')).toMatchObject({
    state: 'paid',
    isArchived: true,
    acts: [{ name: 'forget' }],
  });
  await inbox.close();
  await refuse(inbox.reports());
  await refuse(inbox.route.onCallback(paid('D', 500)));
  await expect([...said, ''].join('\n')).toMatchFileSnapshot('refusals.txt');
});
