import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { newShop } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

const DAY_MS = 86_400_000;

describe.each(ENGINES)('what people do, on %s', (engine) => {
  it('retry gives a dead transition all its attempts again', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open({ retry: { attempts: 2 } });
    let isBroken = true;
    inbox.handle(async ({ tx, signed, settled }) => {
      if (isBroken) throw new Error('broken');
      await merchant.credit(tx, signed.merchant_reference, settled.amount);
    });
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    const { transitionId } = paid('A', 500);
    await inbox.receive(paid('A', 500));
    const exhaust = async (): Promise<void> => {
      for (let round = 0; round < 3; round += 1) {
        await workOff(inbox);
        await merchant.clock.advance(DAY_MS);
      }
    };
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'dead', attempts: 2 });
    await inbox.retry(transitionId);
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'dead', attempts: 2 });
    isBroken = false;
    await inbox.retry(transitionId);
    await exhaust();
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'settled', lastError: undefined });
    await expect(inbox.retry(transitionId)).rejects.toThrow(InvalidStateError);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('retry does not get around a rule', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 700 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    await inbox.retry(paid('A', 500).transitionId);
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
  });

  it('resolve closes a transition with a note: nothing applies it, and nothing but a person opens it again', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    const { transitionId } = paid('A', 500);
    await expect(inbox.resolve(transitionId, { note: ' ' })).rejects.toThrow(ConfigurationError);
    await inbox.resolve(transitionId, { note: 'refunded by hand' });
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    await inbox.receive(paid('A', 501));
    await workOff(inbox);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'resolved',
      reason: 'closed_by_person',
      note: 'refunded by hand',
    });
    expect(await merchant.credits()).toEqual([]);
    await inbox.reopen(transitionId);
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(1);
    await expect(inbox.resolve(transitionId, { note: 'too late' })).rejects.toThrow(InvalidStateError);
  });

  it('resolve with a body accepts it: its amount becomes the expectation, and is applied once', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('A', 5_000_000));
    await inbox.receive(paid('A', 500));
    await inbox.receive(paid('A', 500, { transaction_amount: 499 }));
    await workOff(inbox);
    const { transitionId } = paid('A', 500);
    const details = await inbox.show(transitionId);
    expect(details?.state).toBe('conflict');
    const digestOf = (request: string, transaction: string): string =>
      details?.bodies.find(
        (each) => each.request.amount === request && each.transaction.amount === transaction,
      )?.digest ?? '';
    const note = 'confirmed in the dashboard of the service';
    for (const wrong of ['0'.repeat(64), digestOf('500', '499')]) {
      await expect(inbox.resolve(transitionId, { note, body: wrong })).rejects.toThrow(ConfigurationError);
    }
    await inbox.resolve(transitionId, { note, body: digestOf('500', '500') });
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'A', amount: '500' }]);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'settled',
      note,
      expectation: { amount: '500', settledBy: transitionId },
    });
  });

  it("resolve does not put a body's amount in the place of an expectation", async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 700 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    const { transitionId } = paid('A', 500);
    const body = (await inbox.show(transitionId))?.bodies[0]?.digest;
    await expect(inbox.resolve(transitionId, { note: 'ok', body })).rejects.toThrow(InvalidStateError);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'quarantined',
      expectation: { amount: '700' },
    });
  });

  it('reopen has a settled transition applied once more, and no more than that', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    const { transitionId } = paid('A', 500);
    await inbox.reopen(transitionId);
    await expect(inbox.reopen(transitionId)).rejects.toThrow(InvalidStateError);
    await workOff(inbox);
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(2);
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'settled', deliveries: 2 });
  });

  it('reopen lets through what the order of statuses keeps back', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const applied: string[] = [];
    inbox.handle(({ signed }) => applied.push(signed.transaction_status), {
      statuses: ['COMPLETED', 'FAILED'],
    });
    await inbox.expect({ merchant_reference: 'A', currency: 'UGX', amount: 500 });
    await inbox.receive(paid('A', 500));
    await workOff(inbox);
    const failed = paid('A', 500, { transaction_status: 'FAILED' });
    await inbox.receive(failed);
    await workOff(inbox);
    await inbox.retry(failed.transitionId);
    await workOff(inbox);
    expect(applied).toEqual(['COMPLETED']);
    await inbox.reopen(failed.transitionId);
    await workOff(inbox);
    expect(applied).toEqual(['COMPLETED', 'FAILED']);
  });
});
