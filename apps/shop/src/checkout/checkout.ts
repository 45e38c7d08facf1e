import {
  eligibleProviders,
  type IneligibilityCode,
  type PaymentProvider,
} from '@payment-service/core/client';
import type { Product } from './catalogue.ts';
import { formatMoney, type Money, multiply } from './money.ts';
import type { Order } from './order.ts';

/** The checkout form as the customer typed it. */
export interface CheckoutForm {
  readonly quantity: string;
  readonly name: string;
  readonly account: string;
  readonly provider: string;
  /** The provider that the page selected by the account's prefix. Another `provider` was chosen by hand. */
  readonly byPrefix: string;
}

export type CheckoutField = Exclude<keyof CheckoutForm, 'byPrefix'>;

/** Why the form cannot be accepted, in words for the customer. */
export interface Refusal {
  /** One sentence for each field, shown beside it. */
  readonly fields: Partial<Record<CheckoutField, string>>;
  /** What each provider says, when not one of them can serve this payment. */
  readonly noProvider?: { readonly heading: string; readonly reasons: readonly string[] } | undefined;
}

export type Checkout =
  | {
      readonly ok: true;
      readonly quantity: number;
      readonly name: string;
      readonly account: string;
      readonly total: Money;
      readonly provider: PaymentProvider;
    }
  | { readonly ok: false; readonly refusal: Refusal };

/** What the providers say of a form, complete or not. */
export interface Preview {
  /** Undefined without a usable quantity. */
  readonly total: Money | undefined;
  /** Whether the account is known well enough to be judged. */
  readonly isAccountJudged: boolean;
  /** In the order of the providers. */
  readonly offers: readonly Offer[];
  /** The provider_code that is selected: by hand, or by the account's prefix. Empty without one. */
  readonly selected: string;
  /** The provider_code that the prefix selected. Empty without one, and after a choice by hand. */
  readonly byPrefix: string;
}

export interface Offer {
  readonly provider: PaymentProvider;
  /** Why it cannot serve this payment; empty when it can. */
  readonly reasons: readonly string[];
}

export const EMPTY_FORM: CheckoutForm = { quantity: '1', name: '', account: '', provider: '', byPrefix: '' };
export const MAX_PIECES = 999;
const MAX_NAME_LENGTH = 80;
const MAX_ACCOUNT_LENGTH = 34;
/** A keyboard has none of these, and not every database stores them. */
const CONTROL = /\p{Cc}/u;

/** Reads the fields of a parsed form. Anything but one string counts as empty. */
export function readCheckoutForm(form: unknown): CheckoutForm {
  return {
    quantity: formField(form, 'quantity'),
    name: formField(form, 'name'),
    account: formField(form, 'account'),
    provider: formField(form, 'provider'),
    byPrefix: formField(form, 'by_prefix'),
  };
}

export function formField(form: unknown, name: string): string {
  if (typeof form !== 'object' || form === null || !Object.hasOwn(form, name)) return '';
  const value: unknown = Reflect.get(form, name);
  return typeof value === 'string' ? value.trim() : '';
}

/** What the customer typed for an order, to try its payment again. */
export function formOf(order: Order, product: Product, providers: readonly PaymentProvider[]): CheckoutForm {
  const { quantity, customerName: name, account, providerName } = order;
  const typed = { ...EMPTY_FORM, quantity: String(quantity), name, account };
  const [provider, ...others] = providers.filter(({ provider_name }) => provider_name === providerName);
  // The order keeps a name for people: where two providers share it, the customer chooses again.
  const code = others.length === 0 ? (provider?.provider_code ?? '') : '';
  const { byPrefix } = previewCheckout(typed, product, providers, { isTyping: false });
  return { ...typed, provider: code, byPrefix: code === byPrefix ? byPrefix : '' };
}

/** Decides whether this can be paid: by the form's own rules first, then by what the providers can serve. */
export function checkOut(
  form: CheckoutForm,
  product: Product,
  providers: readonly PaymentProvider[],
): Checkout {
  const fields = formProblems(form);
  if (fields.quantity !== undefined) return { ok: false, refusal: { fields } };

  const quantity = Number(form.quantity);
  const total = multiply(product.price, quantity);
  const { eligible, ineligible } = split(providers, product, total, form.account);
  const price = formatMoney(total.currency, total.amount);
  if (eligible.length === 0) {
    const reasons = ineligible.flatMap(({ reasons }) => reasons.map(({ message }) => message));
    const heading = `No provider can take ${price}${form.account === '' ? '' : ' from this account'}.`;
    return { ok: false, refusal: { fields, noProvider: { heading, reasons: [...new Set(reasons)] } } };
  }
  const refused = ineligible.find(({ provider }) => provider.provider_code === form.provider);
  if (refused !== undefined) {
    const names = eligible.map(({ provider_name }) => provider_name).join(', ');
    for (const { code, message } of refused.reasons) {
      const field = fieldOf(code);
      fields[field] ??=
        `${message} These can take ${price}${form.account === '' ? '' : ' from this account'}: ${names}.`;
    }
  }
  const provider = eligible.find(({ provider_code }) => provider_code === form.provider);
  if (provider === undefined && refused === undefined)
    fields.provider ??= chooseOne(form, product, providers);
  if (provider === undefined || Object.keys(fields).length > 0) return { ok: false, refusal: { fields } };
  return { ok: true, quantity, name: form.name, account: plainAccount(form.account), total, provider };
}

/**
 * What each provider says of the form, and which one the account's prefix selects: the only one of those that have
 * prefixes and can serve the payment. A choice by hand is kept.
 *
 * @param isTyping The account may be incomplete: it is judged from the length of the longest prefix on.
 */
export function previewCheckout(
  form: CheckoutForm,
  product: Product,
  providers: readonly PaymentProvider[],
  { isTyping }: { readonly isTyping: boolean },
): Preview {
  const quantity = quantityIn(form);
  const total = quantity === undefined ? undefined : multiply(product.price, quantity);
  const prefixes = providers.flatMap(({ option_prefixes }) => option_prefixes.map(plainAccount));
  const longest = Math.max(1, ...prefixes.map(({ length }) => length));
  const isAccountJudged = plainAccount(form.account).length >= (isTyping ? longest : 1);
  const { eligible, ineligible } = split(providers, product, total, isAccountJudged ? form.account : '');
  const reasonsOf = new Map(
    ineligible.map(({ provider, reasons }) => [provider, reasons.map(({ message }) => message)]),
  );
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

function split(
  providers: readonly PaymentProvider[],
  { price }: Product,
  total: Money | undefined,
  account: string,
): ReturnType<typeof eligibleProviders> {
  return eligibleProviders(providers, {
    amount: total?.amount,
    currency: price.currency,
    transaction_type: 'COLLECTION',
    account: account === '' ? undefined : account,
  });
}

function chooseOne(form: CheckoutForm, product: Product, providers: readonly PaymentProvider[]): string {
  const { offers, byPrefix } = previewCheckout(form, product, providers, { isTyping: false });
  const selected = offers.find(({ provider }) => provider.provider_code === byPrefix)?.provider;
  const hint =
    selected === undefined ? '' : ` ${selected.provider_name} serves your number: it is selected now.`;
  return `Choose how you want to pay.${hint}`;
}

function quantityIn({ quantity }: CheckoutForm): number | undefined {
  return /^\d{1,3}$/.test(quantity) && Number(quantity) > 0 ? Number(quantity) : undefined;
}

function formProblems(form: CheckoutForm): Partial<Record<CheckoutField, string>> {
  const fields: Partial<Record<CheckoutField, string>> = {};
  if (quantityIn(form) === undefined) fields.quantity = `Enter a quantity from 1 to ${MAX_PIECES}.`;
  if (form.name === '' || form.name.length > MAX_NAME_LENGTH || CONTROL.test(form.name)) {
    fields.name = `Enter your name, in at most ${MAX_NAME_LENGTH} characters.`;
  }
  const isAccount = plainAccount(form.account) !== '' && form.account.length <= MAX_ACCOUNT_LENGTH;
  if (!isAccount || CONTROL.test(form.account)) {
    fields.account = 'Enter the phone or account number that you pay from, with the country code.';
  }
  return fields;
}

function fieldOf(code: IneligibilityCode): CheckoutField {
  if (code.startsWith('account')) return 'account';
  return code.startsWith('amount') ? 'quantity' : 'provider';
}

/** As eligibleProviders() reads it: white space, hyphens and one '+' do not count. */
function plainAccount(account: string): string {
  return account.replace(/[\s\p{Pd}]/gu, '').replace(/^\+/, '');
}
