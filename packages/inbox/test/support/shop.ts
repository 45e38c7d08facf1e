import type { Inbox } from '../../src/index.ts';
import { type AnyTransaction, type EngineName, type Merchant, newMerchant } from './merchant.ts';

/** A merchant with an inbox whose handler credits what is settled. */
export async function newShop(
  engine: EngineName,
): Promise<{ merchant: Merchant; inbox: Inbox<AnyTransaction> }> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open();
  inbox.handle(({ tx, signed, settled }) => merchant.credit(tx, signed.merchant_reference, settled.amount));
  return { merchant, inbox };
}
