import type { Inbox, InboxOptions } from '../../src/index.ts';
import { paid } from './callbacks.ts';
import { type AnyTransaction, type EngineName, type Merchant, newMerchant } from './merchant.ts';
import { untilDone } from './until.ts';

type Handler = Parameters<Inbox<AnyTransaction>['handle']>[0];

/** What the callback `paid('ORD-1', 500)` settles. */
export const ORDER = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' };

/** A merchant with an inbox whose handler credits what is settled, or does as it is told. */
export async function newShop(
  engine: EngineName,
  options: Partial<InboxOptions<AnyTransaction>> = {},
  handler?: Handler,
): Promise<{ merchant: Merchant; inbox: Inbox<AnyTransaction> }> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open(options);
  inbox.handle(
    handler ?? (({ tx, signed, settled }) => merchant.credit(tx, signed.merchant_reference, settled.amount)),
  );
  return { merchant, inbox };
}

/** A merchant whose inbox has one transition that is due and settles `ORDER`, and no handler yet. */
export async function newDueShop(
  engine: EngineName,
  options: Partial<InboxOptions<AnyTransaction>> = {},
): Promise<{ merchant: Merchant; inbox: Inbox<AnyTransaction> }> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open(options);
  await inbox.expect(ORDER);
  await untilDone(() => inbox.receive(paid('ORD-1', 500)));
  return { merchant, inbox };
}
