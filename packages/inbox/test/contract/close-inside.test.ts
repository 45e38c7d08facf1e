import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { ENGINES } from '../support/merchant.ts';
import { newDueShop, newShop } from '../support/shop.ts';
import { signal } from '../support/until.ts';
import { workOff } from '../support/working.ts';

describe.each(ENGINES)('close() on %s', (engine) => {
  it('inside a handler is refused, says why, and closes nothing', async () => {
    const { merchant, inbox } = await newDueShop(engine);
    let refused: unknown;
    inbox.handle(async ({ tx }) => {
      refused = await inbox.close().catch(same);
      await merchant.credit(tx, 'ORD-1', '500');
    });
    await workOff(inbox);
    expect(refused).toBeInstanceOf(ConfigurationError);
    expect(refused).toMatchObject({ option: 'tx', message: expect.stringContaining('close() waits for') });
    expect(await merchant.credits()).toHaveLength(1);
    await inbox.receive(paid('ORD-2', 500));
  });

  it('inside transaction() as well, but not in what goes on after it', async () => {
    const { merchant, inbox } = await newShop(engine);
    const isOver = signal();
    let closed: Promise<void> | undefined;
    await inbox.transaction(async (tx) => {
      await expect(inbox.close()).rejects.toMatchObject({ option: 'tx' });
      await merchant.credit(tx, 'order', '500');
      closed = isOver.promise.then(() => inbox.close());
    });
    isOver.give();
    await closed;
    expect(await merchant.credits()).toHaveLength(1);
    await expect(inbox.ready()).rejects.toThrow(/closed/);
  });
});

const same = (error: unknown): unknown => error;
