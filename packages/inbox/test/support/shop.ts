import type { VerifiedCallback } from '@payment-service/core';
import type {
  Act,
  ActionNote,
  Handled,
  Inbox,
  InboxOptions,
  Payment,
  TransitionDetails,
} from '../../src/index.ts';
import { type Payload, paid } from './callbacks.ts';
import { type AnyTransaction, type EngineName, type Merchant, newMerchant } from './merchant.ts';
import { watchedStore } from './store.ts';
import { untilDone, workOff } from './until.ts';

/** What the callback `paid('ORD-1', 500)` settles. */
export const ORDER = { merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' };
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;
/** No attempt becomes due while a test is looking, since the test moves the clock. */
export const LATER = { retry: { firstDelayMs: 60_000, longestDelayMs: 3_600_000 } };
export const REPLACE = { replace: { by: 'dana', note: 'the order was changed' } };
/** Who acts, and why. */
export const NOTE = { by: 'dana', note: 'confirmed in the dashboard of the service' };

/** For bulk actions that leave nothing out because of its time. */
export const ANY_TIME: Date = new Date(8.64e15);

/** An act as the payment offers it now, to be done later. */
export async function offeredAct<Tx>(
  inbox: Inbox<Tx>,
  reference: string,
  name: Act['name'],
  amount?: string,
): Promise<Act> {
  const { acts = [] } = (await inbox.payment(reference)) ?? {};
  const act = acts.find(
    (each) => each.name === name && (amount ?? each.money?.amount) === each.money?.amount,
  );
  if (act === undefined)
    throw new Error(`${name} is not offered for ${reference}, only ${acts.map((each) => each.name)}.`);
  return act;
}

/** Does the first act of this name that the payment offers. */
export async function actOn<Tx>(
  inbox: Inbox<Tx>,
  reference: string,
  name: Act['name'],
  note: ActionNote = NOTE,
): Promise<Payment> {
  return inbox.act(await offeredAct(inbox, reference, name), note);
}

/** Does this act on a report, as its payment is now; an act that is not offered is refused. */
export async function actOnReport<Tx>(
  inbox: Inbox<Tx>,
  report: string | undefined = '',
  name: Act['name'],
  { amount, ...note }: ActionNote & { readonly amount?: string } = NOTE,
): Promise<Payment> {
  const { signed } = (await inbox.report(report)) ?? {};
  const { merchant_reference = '', transaction_type = '' } = signed ?? {};
  const { acts = [], revision = '' } = (await inbox.payment(merchant_reference, transaction_type)) ?? {};
  const offered = acts.find(
    (act) =>
      act.name === name && act.report === report && (amount ?? act.money?.amount) === act.money?.amount,
  );
  return inbox.act(offered ?? { name, merchant_reference, transaction_type, revision, report }, note);
}

type AnyInbox = Inbox<AnyTransaction>;
type Options = Partial<InboxOptions<AnyTransaction>>;

export interface Shop {
  readonly merchant: Merchant;
  readonly inbox: AnyInbox;
  /** Keeps the callback `paid()`, and works until nothing is due. */
  pay(reference: string, amount?: number, payload?: Payload): Promise<void>;
  /** Keeps these callbacks, and works until nothing is due. */
  deliver(...callbacks: readonly VerifiedCallback[]): Promise<void>;
  /** Expects 500 for each reference, keeps the callback of its payment, and works until nothing is due. */
  sell(...references: readonly string[]): Promise<void>;
  /** Advances the clock, and works until nothing is due. */
  workLater(ms?: number): Promise<void>;
  /** The transition of `paid(reference)`. */
  show(reference?: string): Promise<TransitionDetails | undefined>;
}

/** The expectation of a payment with this reference. */
export function money(
  merchant_reference: string,
  amount: string | number = '500',
): { merchant_reference: string; currency: string; amount: string | number } {
  return { ...ORDER, merchant_reference, amount };
}

/** Expects 500 for each reference, and keeps the callback of its payment. */
export async function order<Tx>(inbox: Inbox<Tx>, ...references: readonly string[]): Promise<void> {
  for (const reference of references) {
    await inbox.expect(money(reference));
    await untilDone(() => inbox.route.onCallback(paid(reference, 500)));
  }
}

/** A merchant with an inbox whose handler credits what is settled, or is given by the test. */
export async function newShop(
  engine: EngineName,
  options: Options = {},
  handler?: (handled: Handled<AnyTransaction, 'paid'>) => unknown,
): Promise<Shop> {
  const shop = shopOf(await newMerchant(engine), options);
  shop.inbox.handle('paid', handler ?? creditIn(shop.merchant));
  return shop;
}

/** A merchant whose inbox has one transition that is due and settles `ORDER`, and no handler yet. */
export async function newDueShop(engine: EngineName, options: Options = {}): Promise<Shop> {
  const shop = shopOf(await newMerchant(engine), options);
  await order(shop.inbox, 'ORD-1');
  return shop;
}

export function shopOf(merchant: Merchant, options: Options = {}): Shop {
  const inbox = merchant.open(options);
  return {
    merchant,
    inbox,
    async pay(reference, amount = 500, payload = {}) {
      await inbox.route.onCallback(paid(reference, amount, payload));
      await workOff(inbox);
    },
    async deliver(...callbacks) {
      for (const each of callbacks) await inbox.route.onCallback(each);
      await workOff(inbox);
    },
    async sell(...references) {
      await order(inbox, ...references);
      await workOff(inbox);
    },
    async workLater(ms = MINUTE_MS) {
      await merchant.advance(ms);
      await workOff(inbox);
    },
    show: (reference = 'ORD-1') => inbox.report(paid(reference, 500).transitionId),
  };
}

/** The handler that credits what is settled. */
export function creditIn(merchant: Merchant): (transition: Handled<AnyTransaction>) => Promise<void> {
  return ({ tx, signed, payment: { settled } }) =>
    merchant.credit(tx, signed.merchant_reference, settled?.amount ?? 'nothing');
}

/** Another inbox that credits what is settled, with a hook between it and its store. */
export function watchedInbox(
  merchant: Merchant,
  watch: Parameters<typeof watchedStore>[1],
  options: Options = LATER,
): AnyInbox {
  const inbox = merchant.open({ ...options, store: watchedStore(merchant.newStore(), watch) });
  inbox.handle('paid', creditIn(merchant));
  return inbox;
}
