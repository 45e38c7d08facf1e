import { expect } from 'vitest';
import type { Inbox } from '../../src/index.ts';
import type { AnyTransaction, Merchant } from './merchant.ts';
import { untilDone } from './until.ts';

/**
 * The next transaction gets through, and nothing before it was kept. An attempt that was told to have failed may be
 * committed, where the answer to its commit came too late; so each has a reference of its own, and none is kept twice.
 */
export async function expectNextCredit(merchant: Merchant, inbox: Inbox<AnyTransaction>): Promise<void> {
  const attempted: string[] = [];
  await untilDone(() => {
    const reference = `next-${attempted.length + 1}`;
    attempted.push(reference);
    return inbox.transaction((tx) => merchant.credit(tx, reference, '1'));
  });
  const credits = await merchant.credits();
  const kept = attempted.filter((reference) => credits.some((credit) => credit.reference === reference));
  expect(kept).toContain(attempted.at(-1));
  expect(credits).toEqual(kept.toSorted().map((reference) => ({ reference, amount: '1' })));
}
