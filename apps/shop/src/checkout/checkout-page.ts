import type { PaymentProvider } from '@payment-service/core/client';
import { html, type Markup, shape } from '@payment-service/pages';
import { formatMoney } from '../books/order.ts';
import { fragment, type Page, page } from '../web/page.ts';
import { limits, type Product, prefixes } from './catalogue.ts';
import {
  type CheckoutField,
  type CheckoutForm,
  MAX_PIECES,
  type Offer,
  type Preview,
  previewCheckout,
  type Refusal,
} from './checkout.ts';

interface CheckoutPage {
  readonly product: Product;
  readonly providers: readonly PaymentProvider[];
  readonly form: CheckoutForm;
  /** The key of the order that this form places. */
  readonly formId: string;
  /** The reference of the order that it retries. */
  readonly instead?: string | undefined;
  /** The origin of the payment page, where a valid form leads. */
  readonly paymentOrigin: string;
  readonly refusal?: Refusal | undefined;
  readonly status?: number;
}

export function checkoutPage(content: CheckoutPage): Promise<Page> {
  const { product, providers, form, formId, instead, paymentOrigin, refusal, status } = content;
  const problems = refusal?.fields ?? {};
  const field = fieldsOf(form, problems);
  const preview = previewCheckout(form, product, providers, { isTyping: false });
  return page({
    title: `${refusal === undefined ? '' : 'Error: '}Buy ${product.name}`,
    section: '/',
    status,
    formsTo: paymentOrigin,
    script: 'checkout.js',
    heading: 'Checkout',
    main: html`${refusal === undefined ? '' : summary(refusal)}
<form method="post" action="/checkout" novalidate class="form narrow">
<input type="hidden" name="product" value="${product.id}">
<input type="hidden" name="form_id" value="${formId}" autocomplete="off">
${instead === undefined ? '' : html`<input type="hidden" name="instead" value="${instead}" autocomplete="off">`}
<div class="card item">
<img src="/assets/pictures/${product.id}.svg" alt="" width="96" height="54">
<div><h2>${product.name}</h2><p>${formatMoney(product.price.currency, product.price.amount)} each</p></div>
</div>
${field('quantity', 'How many', html`type="number" inputmode="numeric" min="1" max="${MAX_PIECES}"`)}
${field('name', 'Your name', html`type="text" autocomplete="name" maxlength="80"`)}
${field('account', 'Phone or account number', html`type="tel" autocomplete="tel" maxlength="34"`, 'With the country code, for example 256770000001. Never a card number.')}
${paymentChoice(preview, problems.provider, Object.keys(problems)[0] === 'provider')}
<button class="main large" type="submit">Pay</button>
<p class="said" id="said" role="status">${saidOf(preview)}</p>
<p class="quiet">You confirm the payment on the next page.</p>
</form>`,
  });
}

function summary({ heading = 'Please correct this', reasons = [], fields = {} }: Refusal): Markup {
  // Otherwise the first invalid field has the focus.
  const focus = Object.keys(fields).length === 0 ? html` tabindex="-1" autofocus` : '';
  return html`<div class="note bad narrow" role="alert"${focus}>
<h2>${heading}</h2>
<ul>
${reasons.map((reason) => html`<li>${reason}</li>`)}
${Object.entries(fields).map(([name, message]) => html`<li><a href="#${name}">${message}</a></li>`)}
</ul>
</div>`;
}

/** What makes the fields of a form. */
const fieldsOf =
  (form: CheckoutForm, problems: NonNullable<Refusal['fields']>) =>
  (name: Exclude<CheckoutField, 'provider'>, label: string, attributes: Markup, hint?: string): Markup => {
    const problem = problems[name];
    const descriptions = [
      ...(hint === undefined ? [] : [`${name}-hint`]),
      ...(problem === undefined ? [] : [`${name}-problem`]),
    ];
    return html`<div class="field">
<label for="${name}">${label}</label>
${hint === undefined ? '' : html`<p class="quiet" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" value="${form[name]}" required ${attributes}
${descriptions.length === 0 ? '' : html`aria-describedby="${descriptions.join(' ')}"`}
${problem === undefined ? '' : html`aria-invalid="true"`}${name === Object.keys(problems)[0] ? ' autofocus' : ''}>
${problem === undefined ? '' : html`<p class="problem" id="${name}-problem">${problem}</p>`}
</div>`;
  };

/** The part of the checkout that assets/checkout.js replaces while the customer types. */
export function paymentChoicePart(preview: Preview): Promise<Page> {
  return fragment(html`${paymentChoice(preview)}<p id="said">${saidOf(preview)}</p>`);
}

/** The total, and each provider with its limits and what it says about this payment. */
function paymentChoice(preview: Preview, problem?: string, hasFocus = false): Markup {
  const { total, offers, byPrefix } = preview;
  const first = hasFocus ? offers.find(({ provider }) => provider.is_active) : undefined;
  return html`<div id="choice">
<p class="head total"><span>Your total</span> <strong>${total === undefined ? '–' : formatMoney(total.currency, total.amount)}</strong></p>
<fieldset id="provider"${problem === undefined ? '' : html` aria-describedby="provider-problem"`}>
<legend>How you want to pay</legend>
<input type="hidden" name="by_prefix" value="${byPrefix}" autocomplete="off">
${offers.length === 0 ? html`<p>No provider accepts this currency at the moment.</p>` : ''}
${offers.map((offer) => choice(offer, preview, offer === first))}
${problem === undefined ? '' : html`<p class="problem" id="provider-problem">${problem}</p>`}
</fieldset>
</div>`;
}

/** One sentence, shown to readers and announced by screen readers. */
function saidOf({ total, isAccountJudged, offers, selected, byPrefix }: Preview): string {
  if (total === undefined || offers.length === 0) return '';
  const price = formatMoney(total.currency, total.amount);
  if (offers.every(({ reasons }) => reasons.length > 0)) {
    return `No provider can accept ${price}${isAccountJudged ? ' from this account' : ''}.`;
  }
  const chosen = offers.find(({ provider }) => provider.provider_code === selected);
  if (chosen === undefined) return '';
  if (chosen.reasons.length > 0)
    return `${chosen.provider.provider_name} is selected and cannot accept this payment.`;
  return selected === byPrefix ? `${chosen.provider.provider_name} is selected: it serves your number.` : '';
}

function choice(offer: Offer, { total, selected }: Preview, hasFocus: boolean): Markup {
  const { provider_code: code, provider_name, transaction_method_name, is_active } = offer.provider;
  return html`<label class="card choice">
<input type="radio" name="provider" value="${code}"${code === selected ? html` checked` : ''}${is_active ? '' : html` disabled`}${hasFocus ? ' autofocus' : ''}>
<span><strong>${provider_name}</strong>
<span class="quiet">${transaction_method_name}, ${limits(offer.provider)}${prefixes(offer.provider)}</span>
${verdict(offer, total)}</span>
</label>`;
}

function verdict({ provider, reasons }: Offer, total: Preview['total']): Markup | '' {
  if (reasons.length > 0) {
    return html`${reasons.map(({ message }) => html`<span class="verdict bad">${shape('bad')}<span>${message}</span></span>`)}`;
  }
  if (total === undefined) return '';
  return html`<span class="verdict good">${shape('good')}<span>Can accept ${formatMoney(provider.transaction_currency, total.amount)}.</span></span>`;
}
