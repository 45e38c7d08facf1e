import type { HandledTransition, Inbox, InboxOptions } from '../../src/index.ts';
import { paid } from './callbacks.ts';
import { type AnyTransaction, type EngineName, type Merchant, newMerchant } from './merchant.ts';
import { untilDone } from './until.ts';

type Handler = Parameters<Inbox<AnyTransaction>['handle']>[0];

/** What the callback `paid('ORD-1', 500)` settles. */
export const ORDER = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' };
/** Nothing is tried again by itself while a test looks: it moves the clock. */
export const LATER = { retry: { firstDelayMs: 60_000, longestDelayMs: 3_600_000 } };
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** Who acts, and why. */
export const NOTE = { by: 'dana', note: 'confirmed in the dashboard of the service' };

export interface Shop {
  readonly merchant: Merchant;
  readonly inbox: Inbox<AnyTransaction>;
}

/** What a payment of this reference must be. */
export function money(
  merchant_reference: string,
  amount: string | number = '500',
): { merchant_reference: string; currency: string; amount: string | number } {
  return { ...ORDER, merchant_reference, amount };
}

/** A merchant with an inbox whose handler credits what is settled, or does as it is told. */
export async function newShop(
  engine: EngineName,
  options: Partial<InboxOptions<AnyTransaction>> = {},
  handler?: Handler,
): Promise<Shop> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open(options);
  inbox.handle(handler ?? creditIn(merchant));
  return { merchant, inbox };
}

/** The handler that credits what is settled. */
export function creditIn(
  merchant: Merchant,
): (transition: HandledTransition<AnyTransaction>) => Promise<void> {
  return ({ tx, signed, settled }) =>
    merchant.credit(tx, signed.merchant_reference, settled?.amount ?? 'nothing');
}

/** A merchant whose inbox has one transition that is due and settles `ORDER`, and no handler yet. */
export async function newDueShop(
  engine: EngineName,
  options: Partial<InboxOptions<AnyTransaction>> = {},
): Promise<Shop> {
  const merchant = await newMerchant(engine);
  const inbox = merchant.open(options);
  await inbox.expect(ORDER);
  await untilDone(() => inbox.receive(paid('ORD-1', 500)));
  return { merchant, inbox };
}
