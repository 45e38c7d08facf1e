import {
  eligibleProviders,
  type IneligibilityCode,
  type IneligibilityReason,
  type PaymentProvider,
} from '@payment-service/core/client';
import { formatMoney, type Money, multiply, type Order, type Product } from '../books/order.ts';
import { formField } from '../web/route.ts';

/** The checkout form as the customer typed it. */
export interface CheckoutForm {
  readonly quantity: string;
  readonly name: string;
  readonly account: string;
  readonly provider: string;
  /** The provider that the page selected by the account's prefix. If `provider` differs, it was chosen by hand. */
  readonly byPrefix: string;
}

/** Why the form cannot be accepted, worded for the customer. */
export interface Refusal {
  /** One sentence for each field, shown beside it. */
  readonly fields?: Partial<Record<keyof CheckoutForm, string>>;
  /** What is wrong although the fields are valid. */
  readonly heading?: string;
  readonly reasons?: readonly string[];
}

/** What the providers say about a form, complete or not. */
export interface Preview {
  /** Undefined without a usable quantity. */
  readonly total: Money | undefined;
  /** Whether the account is complete enough to be checked. */
  readonly isAccountJudged: boolean;
  /** Why each provider cannot serve this payment, in the order of the providers; no reasons if it can. */
  readonly offers: readonly { provider: PaymentProvider; reasons: readonly IneligibilityReason[] }[];
  /** The selected provider_code: by hand, or by the account's prefix. Empty if none is selected. */
  readonly selected: string;
  /** The provider_code that the prefix selected. Empty if it selected none, and after a choice by hand. */
  readonly byPrefix: string;
}

export const EMPTY_FORM: CheckoutForm = { quantity: '1', name: '', account: '', provider: '', byPrefix: '' };
export const MAX_PIECES = 999;
const MAX_NAME_LENGTH = 80;
const MAX_ACCOUNT_LENGTH = 34;

export function readCheckoutForm(form: unknown): CheckoutForm {
  const fields = Object.keys(EMPTY_FORM).map((name) => [name, formField(form, name)]);
  return { ...EMPTY_FORM, ...Object.fromEntries(fields) };
}

/** What the customer typed for an order, to try its payment again. The provider counts as chosen by hand. */
export function formOf({ quantity, customerName, account, providerCode }: Order): CheckoutForm {
  const [name, provider] = [customerName, providerCode];
  return { quantity: String(quantity), name, account, provider, byPrefix: '' };
}

/** Decides whether this can be paid: by the form's own rules first, then by what the providers can serve. */
export function refusalOf(
  form: CheckoutForm,
  product: Product,
  providers: readonly PaymentProvider[],
): Refusal | undefined {
  const fields = formProblems(form);
  const { total, isAccountJudged, offers, byPrefix } = previewCheckout(form, product, providers);
  if (total === undefined) return { fields };

  const payment = `${formatMoney(total)}${isAccountJudged ? ' from this account' : ''}`;
  const able = offers.filter(({ reasons }) => reasons.length === 0).map(({ provider }) => provider);
  if (able.length === 0) {
    const reasons = new Set(offers.flatMap((offer) => offer.reasons.map(({ message }) => message)));
    return { fields, heading: `No provider can accept ${payment}.`, reasons: [...reasons] };
  }
  const chosen = offers.find(({ provider }) => provider.provider_code === form.provider);
  const names = able.map(({ provider_name }) => provider_name).join(', ');
  for (const { code, message } of chosen?.reasons ?? []) {
    fields[fieldOf(code)] ??= `${message} These can accept ${payment}: ${names}.`;
  }
  if (chosen === undefined) {
    const selected = able.find(({ provider_code }) => provider_code === byPrefix)?.provider_name;
    const hint = selected === undefined ? '' : ` ${selected} serves your number and is now selected.`;
    fields.provider ??= `Choose how you want to pay.${hint}`;
  }
  return Object.keys(fields).length > 0 ? { fields } : undefined;
}

/**
 * What each provider says about the form, and which one the account's prefix selects: the only one with prefixes that can serve
 * the payment. A choice by hand is kept.
 *
 * @param isTyping The account may be incomplete: it is checked once it is as long as the longest prefix.
 */
export function previewCheckout(
  form: CheckoutForm,
  { price }: Product,
  providers: readonly PaymentProvider[],
  isTyping = false,
): Preview {
  const quantity = quantityIn(form);
  const total = quantity === undefined ? undefined : multiply(price, quantity);
  const prefixes = providers.flatMap(({ option_prefixes }) => option_prefixes.map(plainAccount));
  const longest = Math.max(1, ...prefixes.map(({ length }) => length));
  const isAccountJudged = plainAccount(form.account).length >= (isTyping ? longest : 1);
  const { eligible, ineligible } = eligibleProviders(providers, {
    amount: total?.amount,
    currency: price.currency,
    transaction_type: 'COLLECTION',
    account: isAccountJudged ? form.account : undefined,
  });
  const reasonsOf = new Map(ineligible.map(({ provider, reasons }) => [provider, reasons]));
  const isByHand =
    form.provider !== form.byPrefix && providers.some(({ provider_code }) => provider_code === form.provider);
  const [named, ...others] = eligible.filter(({ option_prefixes }) => option_prefixes.length > 0);
  const isClear = !isByHand && isAccountJudged && others.length === 0;
  const byPrefix = isClear ? (named?.provider_code ?? '') : '';
  return {
    total,
    isAccountJudged,
    offers: providers.map((provider) => ({ provider, reasons: reasonsOf.get(provider) ?? [] })),
    selected: isByHand ? form.provider : byPrefix,
    byPrefix,
  };
}

function quantityIn({ quantity }: CheckoutForm): number | undefined {
  return /^\d{1,3}$/.test(quantity) && Number(quantity) > 0 ? Number(quantity) : undefined;
}

function formProblems(form: CheckoutForm): NonNullable<Refusal['fields']> {
  const fields: NonNullable<Refusal['fields']> = {};
  if (quantityIn(form) === undefined) fields.quantity = `Enter a quantity from 1 to ${MAX_PIECES}.`;
  if (form.name === '' || form.name.length > MAX_NAME_LENGTH) {
    fields.name = `Enter your name, in at most ${MAX_NAME_LENGTH} characters.`;
  }
  if (plainAccount(form.account) === '' || form.account.length > MAX_ACCOUNT_LENGTH) {
    fields.account = 'Enter the phone or account number that you pay from, with the country code.';
  }
  return fields;
}

function fieldOf(code: IneligibilityCode): keyof CheckoutForm {
  if (code.startsWith('account')) return 'account';
  return code.startsWith('amount') ? 'quantity' : 'provider';
}

/** As eligibleProviders() reads it: ignores white space, hyphens and one '+'. */
export function plainAccount(account: string): string {
  return account.replace(/[\s\p{Pd}]/gu, '').replace(/^\+/, '');
}
