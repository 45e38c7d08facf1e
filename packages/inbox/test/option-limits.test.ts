import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { ENGINES, newMerchant } from './support/merchant.ts';
import { newDueShop } from './support/shop.ts';
import { until } from './support/until.ts';

const HOUR = 3_600_000;
const LONGEST = {
  handlerTimeoutMs: HOUR,
  storeTimeoutMs: 600_000,
  retry: { attempts: 2 ** 31 - 1, firstDelayMs: 2 ** 31 - 1, longestDelayMs: 2 ** 31 - 1 },
};

describe.each(ENGINES)('the largest numbers on %s', (engine) => {
  it('that are taken work', async () => {
    const { merchant, inbox } = await newDueShop(engine, LONGEST);
    inbox.handle(async ({ tx, attempt }) => {
      if (attempt === 1) throw new Error('not yet');
      await merchant.credit(tx, 'ORD-1', '500');
    });
    const stop = new AbortController();
    const working = inbox.work({ signal: stop.signal, pollMs: HOUR });
    await until(async () => (await inbox.list())[0]?.state === 'retrying');
    await merchant.clock.advance(2 ** 31);
    // Wakes the worker.
    await inbox.transaction((tx) => tx.query('select 1'));
    await until(async () => (await inbox.list())[0]?.state === 'settled');
    stop.abort();
    await working;
    expect(await merchant.credits()).toHaveLength(1);
  });

  it.each([
    ['handlerTimeoutMs', { handlerTimeoutMs: HOUR + 1 }, '3600000'],
    ['handlerTimeoutMs', { handlerTimeoutMs: 2 ** 31 - 1 }, '3600000'],
    ['storeTimeoutMs', { storeTimeoutMs: 600_001 }, '600000'],
    ['attempts', { retry: { attempts: 2 ** 31 } }, '2147483647'],
    ['firstDelayMs', { retry: { firstDelayMs: 2 ** 31 } }, '2147483647'],
    ['longestDelayMs', { retry: { longestDelayMs: Number.POSITIVE_INFINITY } }, '2147483647'],
  ])('beyond them %s is refused, with the largest one: %o', async (option, wrong, largest) => {
    const merchant = await newMerchant(engine);
    expect(() => merchant.open(wrong)).toThrow(ConfigurationError);
    expect(() => merchant.open(wrong)).toThrow(expect.objectContaining({ option }));
    expect(() => merchant.open(wrong)).toThrow(`from 1 to ${largest}`);
  });

  it.each([
    ['pollMs', { pollMs: HOUR + 1 }],
    ['pollMs', { pollMs: 2 ** 31 }],
  ])('and so is %s of work(): %o', async (option, wrong) => {
    const { inbox } = await newDueShop(engine);
    inbox.handle(() => undefined);
    const refused = inbox.work({ signal: new AbortController().signal, ...wrong });
    await expect(refused).rejects.toMatchObject({ name: 'ConfigurationError', option });
  });
});
