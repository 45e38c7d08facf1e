import { ConfigurationError } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import type { HandledTransition, HandlerSelector, InboxOptions } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { type AnyTransaction, ENGINES, type Merchant, newMerchant } from '../support/merchant.ts';
import { creditIn, LATER, money, NOTE, type Shop, shopOf } from '../support/shop.ts';
import { startWork, workOff } from '../support/until.ts';

describe('the choice of a handler', () => {
  const engine = 'sqlite';

  test('the most specific handler receives a transition: type and status, then status, then type, then the wildcard', async () => {
    const [{ inbox }, applied] = crediting(await newMerchant(engine), []);
    const payouts = [{ type: 'PAYOUT' }, { type: 'PAYOUT', status: 'FAILED' }];
    const others = [{ status: 'FAILED' }, { type: 'REFUND', status: '*' }, { status: '*' }];
    const selectors: readonly HandlerSelector[] = [{}, ...payouts, ...others];
    for (const [index, selector] of selectors.entries()) {
      const handler = ({ signed, settled }: HandledTransition<AnyTransaction>): void => {
        const { transaction_type: type, transaction_status: status } = signed;
        applied.push(`${type} ${status}: ${index}${settled === undefined ? '' : ` ${settled.amount}`}`);
      };
      inbox.handle(handler, selector);
    }
    for (const transaction_type of ['COLLECTION', 'PAYOUT', 'REFUND']) {
      for (const status of ['COMPLETED', 'FAILED', 'OTHER']) {
        const reference = `${transaction_type}-${status}`;
        await inbox.expect({ ...money(reference), transaction_type });
        await inbox.receive(paid(reference, 500, { transaction_type, transaction_status: status }));
      }
    }
    await workOff(inbox);
    expect(applied.sort()).toEqual([
      ...['COLLECTION COMPLETED: 0 500', 'COLLECTION FAILED: 3', 'COLLECTION OTHER: 5'],
      ...['PAYOUT COMPLETED: 1 500', 'PAYOUT FAILED: 2', 'PAYOUT OTHER: 5'],
      // By status before by type: a handler of completed transactions also gets those of a type that has a wildcard.
      ...['REFUND COMPLETED: 0 500', 'REFUND FAILED: 3', 'REFUND OTHER: 4'],
    ]);
  });

  test('COMPLETED under another event is no payment until completedEvents names the event', async () => {
    const reversed = paid('ORD-1', 500, {}, { event: 'transaction.reversed' });
    const merchant = await newMerchant(engine);
    const [{ inbox, deliver }, applied] = crediting(merchant, ['*', 'COMPLETED'], LATER);
    await inbox.expect(money('ORD-1'));
    await deliver(reversed);
    expect(applied).toEqual([]);
    expect(await inbox.list()).toMatchObject([{ state: 'unhandled', reason: 'no_handler' }]);
    const other = merchant.open({ completedEvents: ['transaction.completed', 'transaction.reversed'] });
    other.handle(({ settled }) => applied.push(settled.amount));
    await other.retry(reversed.transitionId, NOTE);
    await workOff(other);
    expect(applied).toEqual(['500']);
  });

  test('a second handler for one selector, and work() or drain() without a handler, or work() called twice, are refused', async () => {
    const inbox = (await newMerchant(engine)).open();
    const { signal } = new AbortController();
    const needed = (name: string) => ({
      option: 'handler',
      message: `${name} needs a handler: call handle() first.`,
    });
    await expect(inbox.work({ signal })).rejects.toMatchObject(needed('work()'));
    await expect(inbox.drain()).rejects.toMatchObject(needed('drain()'));
    const add = (...values: unknown[]): unknown => Reflect.apply(inbox.handle, undefined, values);
    const nothing = (): undefined => undefined;
    for (const selector of [undefined, { type: 'PAYOUT' }, { status: 'FAILED' }, { status: '*' }]) {
      add(nothing, selector);
      expect(() => add(nothing, { ...selector })).toThrow(ConfigurationError);
    }
    expect(() => add(nothing, { type: '*', status: 'COMPLETED' })).toThrow('already');
    expect(() => add('no')).toThrow(ConfigurationError);
    const stop = startWork(inbox);
    const message = 'This inbox is already working. To run more handlers, use concurrency.';
    await expect(inbox.work({ signal })).rejects.toMatchObject({ option: 'work', message });
    await stop();
  });
});

describe.each(ENGINES)('the order of statuses on %s', (engine) => {
  test('COMPLETED after FAILED or PENDING is applied, unless allowTransitions says otherwise', async () => {
    const options = { allowTransitions: { FAILED: [] } };
    const [{ inbox, deliver }, applied] = crediting(await newMerchant(engine), ['COMPLETED', '*'], options);
    const statuses = {
      'ORD-1': ['PENDING', 'FAILED', 'COMPLETED'],
      'ORD-2': ['PENDING', 'COMPLETED', 'LATE'],
    };
    for (const [reference, all] of Object.entries(statuses)) {
      await inbox.expect(money(reference));
      for (const transaction_status of all) await deliver(paid(reference, 500, { transaction_status }));
    }
    expect(applied).toEqual(['PENDING', 'FAILED', 'PENDING', 'COMPLETED']);
    // The second one by the default for COMPLETED, which stays.
    expect((await inbox.stats()).reasons).toEqual({ transition_not_allowed: 2 });
  });
});

/** Credits what is settled under the statuses, and says what was applied. */
function crediting(
  merchant: Merchant,
  statuses: readonly string[],
  options: Partial<InboxOptions<AnyTransaction>> = {},
): [Shop, string[]] {
  const own = shopOf(merchant, options);
  const applied: string[] = [];
  for (const status of statuses) {
    const handler = async (transition: HandledTransition<AnyTransaction>): Promise<void> => {
      applied.push(transition.signed.transaction_status);
      if (transition.settled !== undefined) await creditIn(merchant)(transition);
    };
    own.inbox.handle(handler, { status });
  }
  return [own, applied];
}
