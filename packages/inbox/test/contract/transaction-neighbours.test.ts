import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { newShop, ORDER } from '../support/shop.ts';
import { signal, until } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe.each(ENGINES)('transaction() beside others on %s', (engine) => {
  it('takes its turn with handlers, callbacks and others of its kind', async () => {
    const { merchant, inbox } = await newShop(engine);
    const references = Array.from({ length: 20 }, (_each, index) => `ORD-${index}`);
    const stop = startWork(inbox);
    await Promise.all(
      references.map(async (reference) => {
        await inbox.transaction(async (tx) => {
          await merchant.credit(tx, `order of ${reference}`, '500');
          await inbox.expect({ ...ORDER, merchant_reference: reference }, { tx });
        });
        await inbox.receive(paid(reference, 500));
      }),
    );
    await until(async () => (await inbox.stats()).states.settled === 20);
    await stop();
    expect(await merchant.credits()).toHaveLength(40);
  });

  it('shows nobody else what is not committed', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      await inbox.expect(ORDER, { tx });
      expect(await inbox.list()).toMatchObject([{ state: 'unhandled' }]);
      expect((await inbox.stats()).states).toMatchObject({ unhandled: 1, pending: 0 });
      expect(await merchant.credits()).toEqual([]);
    });
    expect(await inbox.list()).toMatchObject([{ state: 'pending' }]);
  });

  it('refuses another one inside it, and inside a handler', async () => {
    const { merchant, inbox } = await newShop(engine);
    let inner: unknown;
    await inbox.transaction(async (tx) => {
      inner = await inbox.transaction(() => 1).catch(same);
      await inbox.expect(ORDER, { tx });
    });
    expect(inner).toBeInstanceOf(ConfigurationError);
    expect(inner).toMatchObject({ option: 'tx' });
    const other = merchant.open();
    let inHandler: unknown;
    other.handle(async () => {
      inHandler = await other.transaction(() => 1).catch(same);
    });
    await other.receive(paid('ORD-1', 500));
    await workOff(other, merchant.clock.now);
    expect(inHandler).toBeInstanceOf(ConfigurationError);
    expect(inHandler).toMatchObject({ option: 'tx' });
  });

  it('refuses inside it what could wait for it', async () => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    const { transitionId } = paid('ORD-1', 500);
    await inbox.transaction(async (tx) => {
      await inbox.expect(ORDER, { tx });
      const calls = [
        () => inbox.expect(ORDER),
        () => inbox.retry(transitionId),
        () => inbox.reopen(transitionId),
        () => inbox.resolve(transitionId, { note: 'closed' }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ option: 'tx' });
    });
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });

  it('refuses nothing to what was started in it and goes on after it', async () => {
    const { merchant, inbox } = await newShop(engine);
    const isOver = signal();
    let later: Promise<void> | undefined;
    await inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'order', '500');
      later = isOver.promise.then(() => inbox.expect(ORDER));
    });
    isOver.give();
    await later;
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await merchant.credits()).toHaveLength(2);
  });
});

const same = (error: unknown): unknown => error;
