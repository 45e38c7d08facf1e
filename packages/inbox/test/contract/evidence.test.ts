import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { callback, evidence, paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { newShop } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

describe.each(ENGINES)('evidence, on %s', (engine) => {
  it('keeps evidence, and applies nothing from what can be read in two ways', async () => {
    const { merchant, inbox } = await newShop(engine);
    const refusal = evidence('ambiguous');
    const { transitionId } = refusal.evidence;
    await inbox.quarantine(refusal);
    await inbox.quarantine(refusal);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'quarantined',
      reason: 'ambiguous',
      deliveries: 2,
      bodies: [{ refusal: 'ambiguous' }],
    });
    await inbox.expect({ merchant_reference: 'ORD:1001', currency: 'UGX', amount: 500 });
    await inbox.retry(transitionId);
    await workOff(inbox);
    expect(await inbox.show(transitionId)).toMatchObject({ state: 'quarantined', reason: 'ambiguous' });
    await expect(inbox.reopen(transitionId)).rejects.toThrow(InvalidStateError);
    const body = (await inbox.show(transitionId))?.bodies[0]?.digest;
    await expect(inbox.resolve(transitionId, { note: 'ok', body })).rejects.toThrow(ConfigurationError);
    await inbox.resolve(transitionId, { note: 'somebody tried to shift the colon' });
    expect(await merchant.credits()).toEqual([]);
  });

  it('evidence that only the tolerance refused is applied when a person reopens it', async () => {
    const { merchant, inbox } = await newShop(engine);
    const refusal = evidence('timestamp_out_of_tolerance');
    const { transitionId } = refusal.evidence;
    await inbox.quarantine(refusal);
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: 500 });
    await workOff(inbox);
    expect(await inbox.show(transitionId)).toMatchObject({
      state: 'quarantined',
      reason: 'timestamp_out_of_tolerance',
    });
    await inbox.reopen(transitionId);
    await workOff(inbox);
    expect(await merchant.credits()).toEqual([{ reference: 'ORD-1001', amount: '500' }]);
  });

  it('evidence becomes a callback like any other when it comes again and verifies', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: 500 });
    await inbox.quarantine(evidence('timestamp_out_of_tolerance'));
    await inbox.receive(callback());
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'settled', deliveries: 2, bodyCount: 1 }]);
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('evidence never counts as a body: it neither settles nor makes a conflict', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1001', 700, { internal_reference: 'INT-77' }));
    await inbox.quarantine(evidence('timestamp_out_of_tolerance'));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([
      { state: 'unhandled', reason: 'no_expectation', bodyCount: 2 },
    ]);
    await inbox.expect({ merchant_reference: 'ORD-1001', currency: 'UGX', amount: 500 });
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'quarantined', reason: 'amount_mismatch' }]);
    expect(await merchant.credits()).toEqual([]);
  });
});
