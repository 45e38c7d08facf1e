import {
  eligibleProviders,
  type IneligibilityReason,
  type PaymentProvider,
} from '@payment-service/core/client';
import { type CheckoutForm, EMPTY_FORM, formatMoney, multiply, type Product } from '../books/order.ts';
import { formField } from '../web/route.ts';

/** Why the form cannot be accepted, worded for the customer. */
export interface Refusal {
  readonly heading?: string | undefined;
  /** One sentence each, with the field that corrects it, or ''. */
  readonly problems: readonly (readonly [field: keyof CheckoutForm | '', message: string])[];
}

/** What the providers say about a form, complete or not. */
export interface Preview {
  /** Undefined without a usable quantity. */
  readonly total: Product['price'] | undefined;
  /** Its words: the total, and whether the account was checked too. */
  readonly payment: string;
  /** Why each provider cannot serve this payment, in the order of the providers; no reasons if it can. */
  readonly offers: readonly { provider: PaymentProvider; reasons: readonly IneligibilityReason[] }[];
  /** Selected by hand, or by the account's prefix. */
  readonly selected: PaymentProvider | undefined;
}

export const MAX_PIECES = 999;
const MAX_NAME_LENGTH = 80;
const MAX_ACCOUNT_LENGTH = 34;

export function readCheckoutForm(form: unknown): CheckoutForm {
  const fields = Object.keys(EMPTY_FORM).map((name) => [name, formField(form, name)]);
  return { ...EMPTY_FORM, ...Object.fromEntries(fields) };
}

/** Decides whether this can be paid: by the form's own rules first, then by what the providers can serve. */
export function refusalOf(
  form: CheckoutForm,
  product: Product,
  providers: readonly PaymentProvider[],
): Refusal | undefined {
  const { total, payment, offers, selected } = previewCheckout(form, product, providers);
  const problems: Refusal['problems'][number][] = [];
  if (total === undefined) problems.push(['quantity', `Enter a quantity from 1 to ${MAX_PIECES}.`]);
  if (form.name === '' || form.name.length > MAX_NAME_LENGTH) {
    problems.push(['name', `Enter your name, in at most ${MAX_NAME_LENGTH} characters.`]);
  }
  if (plainAccount(form.account) === '' || form.account.length > MAX_ACCOUNT_LENGTH) {
    problems.push(['account', 'Enter the phone or account number that you pay from, with the country code.']);
  }
  if (total === undefined) return { problems };

  const able = offers.filter(({ reasons }) => reasons.length === 0).map(({ provider }) => provider);
  if (able.length === 0) {
    const reasons = new Set(offers.flatMap((offer) => offer.reasons.map(({ message }) => message)));
    for (const reason of reasons) problems.push(['', reason]);
    return { heading: `No provider can accept ${payment}.`, problems };
  }
  const chosen = offers.find(({ provider }) => provider.provider_code === form.provider);
  const names = able.map(({ provider_name }) => provider_name).join(', ');
  for (const reason of chosen?.reasons ?? []) {
    problems.push([fieldOf(reason), `${reason.message} These can accept ${payment}: ${names}.`]);
  }
  if (chosen === undefined) {
    const hint = selected && ` ${selected.provider_name} serves your number and is now selected.`;
    problems.push(['provider', `Choose how you want to pay.${hint ?? ''}`]);
  }
  return problems.length > 0 ? { problems } : undefined;
}

/**
 * What each provider says about the form, and which one the account's prefix selects: the only one with prefixes that can serve
 * the payment. A choice by hand is kept.
 */
export function previewCheckout(
  form: CheckoutForm,
  { price }: Product,
  providers: readonly PaymentProvider[],
): Preview {
  const isQuantity = /^\d{1,3}$/.test(form.quantity) && Number(form.quantity) > 0;
  const total = isQuantity ? multiply(price, Number(form.quantity)) : undefined;
  const isAccountJudged = plainAccount(form.account) !== '';
  const { eligible, ineligible } = eligibleProviders(providers, {
    amount: total?.amount,
    currency: price.currency,
    transaction_type: 'COLLECTION',
    account: isAccountJudged ? form.account : undefined,
  });
  const reasonsOf = new Map(ineligible.map(({ provider, reasons }) => [provider, reasons]));
  const chosen = providers.find(({ provider_code }) => provider_code === form.provider);
  const [named, ...others] = eligible.filter(({ option_prefixes }) => option_prefixes.length > 0);
  const byPrefix = isAccountJudged && others.length === 0 ? named : undefined;
  return {
    total,
    payment: `${total ? formatMoney(total) : ''}${isAccountJudged ? ' from this account' : ''}`,
    offers: providers.map((provider) => ({ provider, reasons: reasonsOf.get(provider) ?? [] })),
    selected: chosen ?? byPrefix,
  };
}

function fieldOf({ code }: IneligibilityReason): keyof CheckoutForm {
  if (code.startsWith('account')) return 'account';
  return code.startsWith('amount') ? 'quantity' : 'provider';
}

/** As eligibleProviders() reads it: ignores white space, hyphens and one '+'. */
export function plainAccount(account: string): string {
  return account.replace(/[\s\p{Pd}]/gu, '').replace(/^\+/, '');
}
