import type { PaymentProvider } from '@payment-service/core/client';
import { html, type Markup, shape } from '@payment-service/pages';
import { type CheckoutForm, formatMoney, type Product } from '../books/order.ts';
import { newFormId } from '../books/orders.ts';
import { type Page, page } from '../web/page.ts';
import { limits } from './catalogue.ts';
import { accountField, MAX_PIECES, type Offer, offersFor, type Refusal, totalOf } from './checkout.ts';

interface Checkout {
  readonly product: Product;
  readonly providers: readonly PaymentProvider[];
  /** Where a valid form leads: the payment page is there. */
  readonly baseUrl: string;
  readonly form: CheckoutForm;
  /** The reference of the order that it retries. */
  readonly instead?: string | undefined;
  readonly refusal?: Refusal | undefined;
  /** The id of the form that is continued. @default a new one */
  readonly formId?: string | undefined;
}

/** The first step: the quantity and the provider, because they decide the total and what the customer is asked for. */
export function choicePage(checkout: Checkout): Promise<Page> {
  const { product, providers, form, refusal } = checkout;
  const { name, account } = form;
  return checkoutPage(checkout, html`<p>${formatMoney(product.price)} each</p>`, {
    hidden: { name, account },
    fields: html`${fieldsOf(form, refusal)('quantity', 'How many', html`type="number" inputmode="numeric" min="1" max="${MAX_PIECES}"`)}
${paymentChoice(offersFor(form, product, providers), form.provider, problemIn(refusal, 'provider'))}
<button class="main large" name="step" value="choose">Continue</button>
<p class="quiet">You will see the total on the next page.</p>`,
  });
}

/** The second step: who pays, in the words of the provider, and the total. Its provider and quantity are valid. */
export function payPage(checkout: Checkout): Promise<Page> {
  const { product, providers, form, refusal } = checkout;
  const { quantity, provider: code } = form;
  const provider = providers.find(({ provider_code }) => provider_code === code);
  const account = provider && accountField(provider);
  const total = formatMoney(totalOf(form, product) ?? product.price);
  const field = fieldsOf(form, refusal);
  const amounts = html`<p>${quantity} × ${formatMoney(product.price)}</p><p>Total <strong>${total}</strong></p>`;
  return checkoutPage(checkout, amounts, {
    hidden: { quantity, provider: code },
    fields: html`<p>Pay with <strong>${provider?.provider_name}</strong></p>
${field('name', 'Your name', html`type="text" autocomplete="name" maxlength="80"`)}
${
  account === undefined
    ? html`<p>You enter the card on the next page, not here.</p>`
    : field('account', account.label, html`type="tel" autocomplete="tel" maxlength="34"`, account.hint)
}
<button class="main large">Pay ${total}</button>
<button class="large" name="step" value="change">Change quantity or provider</button>
<p class="quiet">You confirm the payment on the next page.</p>`,
  });
}

function checkoutPage(
  { product, baseUrl, instead = '', refusal, formId = newFormId() }: Checkout,
  amounts: Markup,
  { hidden, fields }: { hidden: Readonly<Record<string, string>>; fields: Markup },
): Promise<Page> {
  return page({
    title: `${refusal === undefined ? '' : 'Error: '}Buy ${product.name}`,
    section: '/',
    status: refusal === undefined ? 200 : 422,
    formsTo: new URL(baseUrl).origin,
    heading: 'Checkout',
    main: html`${refusal === undefined ? '' : summary(refusal)}
<form method="post" action="/checkout" novalidate class="form split">
${Object.entries({ product: product.id, form_id: formId, instead, ...hidden })
  .filter(([, value]) => value !== '')
  .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" autocomplete="off">`)}
<section class="card follows" aria-labelledby="summary">
<div class="head"><img src="/assets/pictures/${product.id}.svg" alt="" width="96" height="54">
<div><h2 id="summary">${product.name}</h2>${amounts}</div></div>
</section>
<div class="stack">
${fields}
</div>
</form>`,
  });
}

function problemIn(refusal: Refusal | undefined, name: keyof CheckoutForm): Markup | undefined {
  const problem = refusal?.problems.find(([field]) => field === name);
  return problem && html`<p class="problem" id="${name}-problem">${problem[1]}</p>`;
}

/** Not those of packages/pages: this form shows every problem at once, and browsers fill in its fields. */
const fieldsOf =
  (form: CheckoutForm, refusal: Refusal | undefined) =>
  (name: keyof CheckoutForm, label: string, attributes: Markup, hint?: string): Markup => {
    const problem = problemIn(refusal, name);
    const described = [hint && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(' ');
    return html`<div class="field stack"><label for="${name}">${label}</label>
${hint && html`<p class="quiet" id="${name}-hint">${hint}</p>`}
<input id="${name}" name="${name}" value="${form[name]}" required ${attributes}${described && html` aria-describedby="${described}"`}${problem && html` aria-invalid="true"`}>
${problem}</div>`;
  };

/** Receives the focus, and links to the fields. */
const summary = ({ heading = 'Please correct this', problems }: Refusal): Markup =>
  html`<div class="note bad" role="alert" tabindex="-1" autofocus>
<h2>${heading}</h2>
<ul>${problems.map(([field, text]) => html`<li>${field === '' ? text : html`<a href="#${field}">${text}</a>`}</li>`)}</ul>
</div>`;

/** Each provider with its limits and what it says about this payment. */
function paymentChoice(offers: readonly Offer[], selected: string, problem: Markup | undefined): Markup {
  return html`<div class="stack" role="radiogroup" id="provider" aria-labelledby="how"${problem && html` aria-describedby="provider-problem"`}>
<h2 id="how">How you want to pay</h2>
${offers.length === 0 ? html`<p>No provider accepts this currency at the moment. Try again later.</p>` : ''}
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
