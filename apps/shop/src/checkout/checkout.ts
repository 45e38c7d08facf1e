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

/** What a provider says about a form, complete or not: why it cannot serve this payment, or nothing. */
export interface Offer {
  readonly provider: PaymentProvider;
  /** The account to send, if it can serve this payment. */
  readonly account?: string | undefined;
  readonly reasons: readonly IneligibilityReason[];
}

/** How a customer names the account that pays; undefined for a card, which only the payment page asks for. */
export function accountField({
  transaction_method: method,
  option_prefixes: [prefix],
}: PaymentProvider): { readonly label: string; readonly hint: string } | undefined {
  if (method === 'CARD') return undefined;
  if (method === 'BANK')
    return { label: 'Bank account number', hint: 'The account that you pay from. Never a card number.' };
  const example = prefix === undefined ? '' : `, for example ${prefix}0000001`;
  return { label: 'Phone number', hint: `With the country code${example}.` };
}

export const MAX_PIECES = 999;
const MAX_NAME_LENGTH = 80;
const MAX_ACCOUNT_LENGTH = 34;

export function readCheckoutForm(form: URLSearchParams): CheckoutForm {
  const fields = Object.keys(EMPTY_FORM).map((name) => [name, formField(form, name)]);
  return { ...EMPTY_FORM, ...Object.fromEntries(fields) };
}

/** Decides whether this can be paid: by the form's own rules first, then by what the providers can serve. */
export function refusalOf(
  form: CheckoutForm,
  product: Product,
  providers: readonly PaymentProvider[],
): Refusal | undefined {
  const total = totalOf(form, product);
  const offers = offersFor(form, product, providers);
  const problems: Refusal['problems'][number][] = [];
  if (total === undefined) problems.push(['quantity', `Enter a quantity from 1 to ${MAX_PIECES}.`]);
  if (form.name === '' || form.name.length > MAX_NAME_LENGTH) {
    problems.push(['name', `Enter your name, in at most ${MAX_NAME_LENGTH} characters.`]);
  }
  const chosen = offers.find(({ provider }) => provider.provider_code === form.provider);
  const account = chosen && accountField(chosen.provider);
  if (account && (!hasAccount(form) || form.account.length > MAX_ACCOUNT_LENGTH)) {
    problems.push(['account', `Enter the ${account.label.toLowerCase()} that you pay from.`]);
  }
  if (total === undefined) return { problems };

  const payment = `${formatMoney(total)}${hasAccount(form) ? ' from this account' : ''}`;
  const able = offers.filter(({ reasons }) => reasons.length === 0).map(({ provider }) => provider);
  if (able.length === 0) {
    const reasons = new Set(offers.flatMap((offer) => offer.reasons.map(({ message }) => message)));
    for (const reason of reasons) problems.push(['', reason]);
    return { heading: `No provider can accept ${payment}.`, problems };
  }
  const names = able.map(({ provider_name }) => provider_name).join(', ');
  for (const reason of chosen?.reasons ?? []) {
    problems.push([fieldOf(reason), `${reason.message} These can accept ${payment}: ${names}.`]);
  }
  if (chosen === undefined) problems.push(['provider', 'Choose how you want to pay.']);
  return problems.length > 0 ? { problems } : undefined;
}

/** What each provider says about the form, in their order. */
export function offersFor(
  form: CheckoutForm,
  product: Product,
  providers: readonly PaymentProvider[],
): readonly Offer[] {
  const { eligible, ineligible } = eligibleProviders(providers, {
    amount: totalOf(form, product)?.amount,
    currency: product.price.currency,
    transaction_type: 'COLLECTION',
    account: hasAccount(form) ? form.account : undefined,
  });
  const offers = [...eligible.map((able) => ({ ...able, reasons: [] })), ...ineligible];
  return offers.sort((a, b) => providers.indexOf(a.provider) - providers.indexOf(b.provider));
}

/** Undefined without a usable quantity. */
export function totalOf({ quantity }: CheckoutForm, { price }: Product): Product['price'] | undefined {
  const isQuantity = /^\d{1,3}$/.test(quantity) && Number(quantity) > 0;
  return isQuantity ? multiply(price, Number(quantity)) : undefined;
}

function fieldOf({ code }: IneligibilityReason): keyof CheckoutForm {
  if (code.startsWith('account')) return 'account';
  return code.startsWith('amount') ? 'quantity' : 'provider';
}

/** Whether there is anything for eligibleProviders() to read. */
const hasAccount = ({ account }: CheckoutForm): boolean => /[\p{L}\p{N}]/u.test(account);
