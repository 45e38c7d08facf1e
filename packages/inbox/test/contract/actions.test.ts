import { InvalidStateError, StaleError } from '@payment-service/core';
import { expect, test } from 'vitest';
import { evidence, paid } from '../support/callbacks.ts';
import {
  ANY_TIME,
  creditIn,
  DAY_MS,
  LATER,
  MINUTE_MS,
  money,
  NOTE,
  newShop,
  REPLACE,
  seen,
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
    expect(await inbox.retry(await seen(inbox, transitionId), NOTE)).toBe(1);
  }
  isBroken = false;
  await workOff(inbox);
  const settled = await show('A');
  expect(settled).toMatchObject({ state: 'settled', lastError: undefined });
  expect(settled?.actions).toHaveLength(2);
  await expect(inbox.retry(await seen(inbox, transitionId), NOTE)).rejects.toThrow(InvalidStateError);
  expect(await merchant.credits()).toHaveLength(1);
});

test('retry() and resolve() move all transitions of a state, reason and time, up to the limit', async () => {
  const { merchant, inbox, pay, show } = await newShop('sqlite', LATER);
  for (const reference of ['D', 'E']) await inbox.expect(money(reference, 7));
  for (const reference of ['A', 'B', 'C', 'D', 'E']) await pay(reference);
  const unhandled = { state: 'unhandled', reason: 'no_expectation', until: ANY_TIME } as const;
  expect(await inbox.retry({ ...unhandled, reason: 'no_handler' }, NOTE)).toBe(0);
  expect(await inbox.retry({ ...unhandled, limit: 2 }, NOTE)).toBe(2);
  expect((await inbox.stats()).states).toMatchObject({ pending: 2, unhandled: 1 });
  await workOff(inbox);
  expect(await inbox.resolve(unhandled, NOTE)).toBe(3);
  for (const state of ['unhandled', 'resolved'] as const)
    expect(await inbox.resolve({ state, until: ANY_TIME }, NOTE)).toBe(0);
  expect(await inbox.stats()).toMatchObject({ reasons: { closed_by_operator: 3, amount_mismatch: 2 } });
  expect((await show('A'))?.actions.at(-1)).toMatchObject({ action: 'resolve', ...NOTE });
  expect(merchant.events.filter(({ name }) => name === 'transition.moved')).toHaveLength(5);
  await pay('EARLY');
  await merchant.advance(MINUTE_MS);
  await pay('LATE');
  // Transitions that changed at or after a given time are left out.
  const [{ changedAt: until } = { changedAt: ANY_TIME }] = await inbox.list(unhandled);
  expect(await inbox.resolve({ ...unhandled, until }, NOTE)).toBe(1);
  expect(await inbox.list(unhandled)).toMatchObject([{ signed: { merchant_reference: 'LATE' } }]);
  expect(await merchant.credits()).toEqual([]);
});

test('a closed transition that was never applied is reopened, and one that was applied needs an act of its own', async () => {
  const { merchant, inbox, pay, show } = await newShop('sqlite', LATER);
  await pay('A');
  await inbox.resolve(await seen(inbox, transitionId), NOTE);
  await inbox.expect(money('A'));
  await pay('A', 501);
  expect(await show('A')).toMatchObject({ state: 'resolved', reason: 'closed_by_operator' });
  expect(await merchant.credits()).toEqual([]);
  await expect(inbox.applyAgain(await seen(inbox, transitionId), NOTE)).rejects.toThrow('never applied');
  await inbox.reopen(await seen(inbox, transitionId), NOTE);
  for (const act of [inbox.reopen, inbox.applyAgain])
    await expect(act(await seen(inbox, transitionId), NOTE)).rejects.toThrow('already pending');
  await workOff(inbox);
  await pay('A');
  expect(await merchant.credits()).toHaveLength(1);
  await expect(inbox.reopen(await seen(inbox, transitionId), NOTE)).rejects.toThrow('It was applied');
  await inbox.applyAgain(await seen(inbox, transitionId), NOTE);
  await workOff(inbox);
  expect(await merchant.credits()).toHaveLength(2);
  await expect(inbox.resolve(await seen(inbox, transitionId), NOTE)).rejects.toThrow(InvalidStateError);
  const actions = ['resolve', 'reopen', 'applyAgain'].map((action) => ({ action }));
  expect(await show('A')).toMatchObject({ state: 'settled', deliveries: 3, actions });
  // Closed before it was applied once more: it still was applied before.
  await inbox.applyAgain(await seen(inbox, transitionId), NOTE);
  await inbox.resolve(await seen(inbox, transitionId), NOTE);
  await expect(inbox.reopen(await seen(inbox, transitionId), NOTE)).rejects.toThrow('It was applied');
  expect(await merchant.credits()).toHaveLength(2);
});

test('reopen() lets a late status through, and neither retry() nor another body does', async () => {
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
    if (state === 'quarantined') await inbox.retry(await seen(inbox, late.transitionId), NOTE);
    else
      await expect(inbox.retry(await seen(inbox, late.transitionId), NOTE)).rejects.toThrow(
        InvalidStateError,
      );
    await deliver(late);
    expect(await inbox.show(late.transitionId)).toMatchObject({ state, nextAt: undefined });
    expect(applied).not.toContain(transaction_status);
    await inbox.reopen(await seen(inbox, late.transitionId), NOTE);
    await workOff(inbox);
    expect(applied).toContain(transaction_status);
  }
});

test('accept() makes the amount of the body the expectation, and applies it once', async () => {
  const { merchant, inbox, deliver, show } = await newShop('sqlite', LATER);
  await deliver(paid('A', 5_000_000), paid('A', 500), paid('A', 500, { transaction_amount: 499 }));
  const { bodies = [], state } = (await show('A')) ?? {};
  expect(state).toBe('conflict');
  const digestOf = (...claimed: string[]): string | undefined =>
    bodies.find(({ request, transaction }) => `${[request.amount, transaction.amount]}` === `${claimed}`)
      ?.digest;
  const accept = async (body: unknown): Promise<void> =>
    Reflect.apply(inbox.accept, undefined, [await seen(inbox, transitionId), { ...NOTE, body }]);
  for (const body of ['0'.repeat(64), digestOf('500', '499'), undefined])
    await expect(accept(body)).rejects.toMatchObject({ option: 'body' });
  const accepted = { ...NOTE, body: digestOf('500', '500') ?? '' };
  const before = await seen(inbox, transitionId);
  await inbox.accept(before, accepted);
  await expect(inbox.accept(before, accepted)).rejects.toThrow(StaleError);
  await workOff(inbox);
  await expect(inbox.accept(await seen(inbox, transitionId), accepted)).rejects.toThrow('already settled');
  expect(await merchant.credits()).toEqual(['A 500']);
  expect(await show('A')).toMatchObject({
    state: 'settled',
    actions: [{ action: 'accept', ...NOTE }],
    expectation: { amount: '500', settledBy: transitionId },
  });
});

test('a body is accepted in place of the expectation, by either of its amounts', async () => {
  const { merchant, inbox, deliver, show } = await newShop('sqlite', LATER);
  for (const reference of ['A', 'B', 'C', 'D']) await inbox.expect(money(reference));
  const less = { transaction_amount: 300 };
  await deliver(paid('A', 500, less), paid('B', 600), paid('C', 500), paid('D', 600, less));
  expect(await inbox.list({ reason: 'amount_mismatch' })).toHaveLength(3);
  const accept = async (reference: string, options: object): Promise<void> => {
    const transition = await show(reference);
    const body = transition?.bodies[0]?.digest;
    await Reflect.apply(inbox.accept, undefined, [transition, { ...NOTE, body, ...options }]);
  };
  for (const [reference, options, option] of [
    ['A', {}, 'body'],
    ['A', { replace: 'yes' }, 'replace'],
    ['A', { compare: 'all' }, 'compare'],
    ['C', {}],
  ] as const)
    await expect(accept(reference, options)).rejects.toMatchObject(
      option ? { option } : { code: 'invalid_state' },
    );
  expect(await show('A')).toMatchObject({ state: 'quarantined', actions: [] });
  await accept('A', { compare: 'transaction' });
  await accept('B', {});
  await accept('D', { compare: 'request' });
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['A 300', 'B 600', 'C 500', 'D 600']);
  expect(await show('A')).toMatchObject({
    state: 'settled',
    expectation: { amount: '300', compare: 'transaction', replaced: [{ amount: '500', compare: 'both' }] },
    actions: [{ action: 'accept', ...NOTE }],
  });
});

test('what is refused says why, and what to do instead', async () => {
  const { merchant, inbox, deliver, sell, show } = await newShop('sqlite', LATER);
  await inbox.route.onAuthenticRefusal(evidence('ambiguous'));
  await workOff(inbox);
  const [{ transitionId: ambiguous = '' } = {}] = await inbox.list();
  await sell('A', 'OLD');
  await inbox.expect(money('B', 7));
  await deliver(paid('B', 500), paid('C', 500, { transaction_amount: 400 }));
  await inbox.route.onCallback(paid('D', 500));
  const said: string[] = [];
  const refuse = async (refused: Promise<unknown>): Promise<void> =>
    void said.push(await refused.then(String, ({ name, message }) => `${name}: ${message}`));
  const accept = async (reference: string, given = {}): Promise<void> => {
    const transition = await seen(inbox, paid(reference, 500).transitionId);
    const body = (await show(reference))?.bodies[0]?.digest ?? '';
    await refuse(inbox.accept(transition, { ...NOTE, body, ...given }));
  };
  await refuse(inbox.resolve({ ...(await seen(inbox, paid('C', 500).transitionId)), revision: 'old' }, NOTE));
  await refuse(inbox.retry(await seen(inbox, transitionId), NOTE));
  await refuse(inbox.reopen(await seen(inbox, paid('D', 500).transitionId), NOTE));
  await refuse(inbox.reopen(await seen(inbox, ambiguous), NOTE));
  await refuse(inbox.reopen(await seen(inbox, transitionId), NOTE));
  await refuse(inbox.applyAgain(await seen(inbox, paid('C', 500).transitionId), NOTE));
  await accept('C');
  await accept('C', { body: '0'.repeat(64) });
  await refuse(inbox.expect(money('A', 7), REPLACE));
  await refuse(inbox.expect(money('B', 8)));
  await merchant.advance(2 * DAY_MS);
  await inbox.prune({ archiveOlderThanDays: 1 });
  await refuse(inbox.reopen(await seen(inbox, paid('OLD', 500).transitionId), NOTE));
  await refuse(inbox.expect(money('OLD', 8)));
  expect(await inbox.expectations('OLD')).toMatchObject([
    { transaction_type: 'COLLECTION', amount: '500', deadline: undefined },
  ]);
  await inbox.close();
  await refuse(inbox.list());
  await refuse(inbox.route.onCallback(paid('D', 500)));
  await expect([...said, ''].join('\n')).toMatchFileSnapshot('refusals.txt');
});
