import {
  eligibleProviders,
  type IneligibilityCode,
  type PaymentProvider,
} from '@payment-service/core/client';
import type { Product } from './catalogue.ts';
import { formatMoney, type Money, multiply } from './money.ts';

/** The checkout form as the customer typed it. */
export interface CheckoutForm {
  readonly quantity: string;
  readonly name: string;
  readonly account: string;
  readonly provider: string;
}

export type CheckoutField = keyof CheckoutForm;

/** Why the form cannot be accepted, in words for the customer. */
export interface Refusal {
  /** One sentence a field; the customer can mend it there. */
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

export const MOST_PIECES = 999;
const LONGEST_NAME = 80;
const LONGEST_ACCOUNT = 34;
/** Nobody types these, and not every database keeps them. */
const CONTROL = /\p{Cc}/u;

/** Reads the fields of a parsed form. Whatever is not one text counts as empty. */
export function readCheckoutForm(form: unknown): CheckoutForm {
  return {
    quantity: formField(form, 'quantity'),
    name: formField(form, 'name'),
    account: formField(form, 'account'),
    provider: formField(form, 'provider'),
  };
}

export function formField(form: unknown, name: string): string {
  if (typeof form !== 'object' || form === null || !Object.hasOwn(form, name)) return '';
  const value: unknown = Reflect.get(form, name);
  return typeof value === 'string' ? value.trim() : '';
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
  const { eligible, ineligible } = eligibleProviders(providers, {
    amount: total.amount,
    currency: total.currency,
    transaction_type: 'COLLECTION',
    ...(form.account === '' ? {} : { account: form.account }),
  });
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
  if (provider === undefined && refused === undefined) fields.provider ??= 'Choose how you want to pay.';
  if (provider === undefined || Object.keys(fields).length > 0) return { ok: false, refusal: { fields } };
  return { ok: true, quantity, name: form.name, account: plainAccount(form.account), total, provider };
}

function formProblems(form: CheckoutForm): Partial<Record<CheckoutField, string>> {
  const fields: Partial<Record<CheckoutField, string>> = {};
  const quantity = /^\d{1,3}$/.test(form.quantity) ? Number(form.quantity) : 0;
  if (quantity < 1) fields.quantity = `Write how many you want: a whole number from 1 to ${MOST_PIECES}.`;
  if (form.name === '' || form.name.length > LONGEST_NAME || CONTROL.test(form.name)) {
    fields.name = `Write your name, in at most ${LONGEST_NAME} characters.`;
  }
  const isAccount = plainAccount(form.account) !== '' && form.account.length <= LONGEST_ACCOUNT;
  if (!isAccount || CONTROL.test(form.account)) {
    fields.account = 'Write the phone or account number that you pay from, with the country code.';
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
