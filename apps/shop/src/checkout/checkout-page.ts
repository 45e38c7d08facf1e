import type { PaymentProvider } from '@payment-service/core/client';
import { html, type Markup, shape } from '@payment-service/pages';
import { type CheckoutForm, formatMoney, type Product } from '../books/order.ts';
import { newFormId } from '../books/orders.ts';
import { type Page, page } from '../web/page.ts';
import { limits } from './catalogue.ts';
import { MAX_PIECES, type Offer, offersFor, type Refusal } from './checkout.ts';

/**
 * @param baseUrl where a valid form leads: the payment page is there.
 * @param instead the reference of the order that it retries.
 */
export function checkoutPage(
  product: Product,
  providers: readonly PaymentProvider[],
  baseUrl: string,
  form: CheckoutForm,
  instead = '',
  refusal?: Refusal,
): Promise<Page> {
  const problemOf = (name: keyof CheckoutForm): Markup | undefined => {
    const problem = refusal?.problems.find(([field]) => field === name);
    return problem && html`<p class="problem" id="${name}-problem">${problem[1]}</p>`;
  };
  /** Not those of packages/pages: this form shows every problem at once, and browsers fill in its fields. */
  const field = (name: keyof CheckoutForm, label: string, attributes: Markup, hint?: string): Markup => {
    const problem = problemOf(name);
    const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ');
    return html`<div class="field stack"><label for="${name}">${label}</label>
${hint && html`<p class="quiet" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" value="${form[name]}" required ${attributes}${described && html` aria-describedby="${described}"`}${problem && html` aria-invalid="true"`}>
${problem}</div>`;
  };
  return page({
    title: `${refusal === undefined ? '' : 'Error: '}Buy ${product.name}`,
    section: '/',
    status: refusal === undefined ? 200 : 422,
    formsTo: new URL(baseUrl).origin,
    heading: 'Checkout',
    main: html`${refusal === undefined ? '' : summary(refusal)}
<form method="post" action="/checkout" novalidate class="form split">
${Object.entries({ product: product.id, form_id: newFormId(), instead }).map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" autocomplete="off">`,
)}
<section class="card follows" aria-labelledby="summary">
<div class="head"><img src="/assets/pictures/${product.id}.svg" alt="" width="96" height="54">
<div><h2 id="summary">${product.name}</h2><p>${formatMoney(product.price)} each</p></div></div>
</section>
<div class="stack">
${field('quantity', 'How many', html`type="number" inputmode="numeric" min="1" max="${MAX_PIECES}"`)}
${field('name', 'Your name', html`type="text" autocomplete="name" maxlength="80"`)}
${field('account', 'Phone or account number', html`type="tel" autocomplete="tel" maxlength="34"`, 'With the country code, for example 256770000001. Never a card number.')}
${paymentChoice(offersFor(form, product, providers), form.provider, problemOf('provider'))}
<button class="main large" type="submit">Pay</button>
<p class="quiet">You see the total and confirm the payment on the next page.</p>
</div>
</form>`,
  });
}

/** Has the focus, and leads to the fields. */
const summary = ({ heading = 'Please correct this', problems }: Refusal): Markup =>
  html`<div class="note bad" role="alert" tabindex="-1" autofocus>
<h2>${heading}</h2>
<ul>${problems.map(([field, text]) => html`<li>${field === '' ? text : html`<a href="#${field}">${text}</a>`}</li>`)}</ul>
</div>`;

/** Each provider with its limits and what it says about this payment. */
function paymentChoice(offers: readonly Offer[], selected: string, problem: Markup | undefined): Markup {
  return html`<div class="stack" role="radiogroup" id="provider" aria-labelledby="how"${problem && html` aria-describedby="provider-problem"`}>
<h3 id="how">How you want to pay</h3>
${offers.length === 0 ? html`<p>No provider accepts this currency at the moment.</p>` : ''}
${offers.map(({ provider, reasons }) => {
  const { provider_code: code, provider_name, is_active } = provider;
  return html`<label class="card choice">
<input type="radio" name="provider" value="${code}"${code === selected ? html` checked` : ''}${is_active ? '' : html` disabled`}>
<span class="stack"><strong>${provider_name}</strong>
<span class="quiet">${limits(provider)}</span>
${reasons.map(({ message }) => html`<span class="outcome bad">${shape('bad')} ${message}</span>`)}</span>
</label>`;
})}
${problem}
</div>`;
}
