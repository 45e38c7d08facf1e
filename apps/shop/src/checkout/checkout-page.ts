import type { PaymentProvider } from '@payment-service/core/client';
import { html, type Markup, shape } from '@payment-service/pages';
import { type CheckoutForm, formatMoney, type Product } from '../books/order.ts';
import { newFormId } from '../books/orders.ts';
import { type Page, page } from '../web/page.ts';
import { limits } from './catalogue.ts';
import { MAX_PIECES, type Preview, previewCheckout, type Refusal } from './checkout.ts';

/**
 * @param baseUrl where a valid form leads: the payment page is there.
 * @param instead the reference of the order that it retries.
 * @param isTyping whether the account may be incomplete.
 */
export function checkoutPage(
  product: Product,
  providers: readonly PaymentProvider[],
  baseUrl: string,
  form: CheckoutForm,
  instead = '',
  refusal?: Refusal,
  isTyping = false,
): Promise<Page> {
  const preview = previewCheckout(form, product, providers, isTyping);
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
    head: html`<script type="module" src="/assets/checkout.js"></script>`,
    heading: 'Checkout',
    main: html`${refusal === undefined ? '' : summary(refusal)}
<form method="post" action="/checkout" novalidate class="form split">
${Object.entries({ product: product.id, form_id: newFormId(), instead }).map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" autocomplete="off">`,
)}
<section class="card follows" aria-labelledby="summary">
<div class="head"><img src="/assets/pictures/${product.id}.svg" alt="" width="96" height="54">
<div><h2 id="summary">${product.name}</h2><p>${formatMoney(product.price)} each</p></div></div>
<p class="head price" id="total">Your total <strong class="actions">${preview.total ? formatMoney(preview.total) : '–'}</strong></p>
</section>
<div class="stack">
${field('quantity', 'How many', html`type="number" inputmode="numeric" min="1" max="${MAX_PIECES}"`)}
${field('name', 'Your name', html`type="text" autocomplete="name" maxlength="80"`)}
${field('account', 'Phone or account number', html`type="tel" autocomplete="tel" maxlength="34"`, 'With the country code, for example 256770000001. Never a card number.')}
${paymentChoice(preview, problemOf('provider'))}
<button class="main large" type="submit">Pay</button>
<p class="said" id="said" role="status">${saidOf(preview)}</p>
<p class="quiet">You confirm the payment on the next page.</p>
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

/**
 * Each provider with its limits and what it says about this payment: assets/checkout.js replaces it, and the total, while the
 * customer types.
 */
function paymentChoice(preview: Preview, problem: Markup | undefined): Markup {
  const { offers, byPrefix } = preview;
  return html`<div id="choice">
<div class="stack" role="radiogroup" id="provider" aria-labelledby="how"${problem && html` aria-describedby="provider-problem"`}>
<h3 id="how">How you want to pay</h3>
<input type="hidden" name="byPrefix" value="${byPrefix}" autocomplete="off">
${offers.length === 0 ? html`<p>No provider accepts this currency at the moment.</p>` : ''}
${offers.map((offer) => choice(offer, preview))}
${problem}
</div>
</div>`;
}

/** One sentence, shown to readers and announced by screen readers. */
function saidOf({ total, payment, offers, selected, byPrefix }: Preview): string {
  if (total === undefined || offers.length === 0) return '';
  if (offers.every(({ reasons }) => reasons.length > 0)) return `No provider can accept ${payment}.`;
  const chosen = offers.find(({ provider }) => provider.provider_code === selected);
  if (chosen === undefined) return '';
  const name = chosen.provider.provider_name;
  if (chosen.reasons.length > 0) return `${name} is selected and cannot accept this payment.`;
  return selected === byPrefix ? `${name} is selected: it serves your number.` : '';
}

function choice(offer: Preview['offers'][number], { total, selected }: Preview): Markup {
  const { provider, reasons } = offer;
  const { provider_code: code, provider_name, is_active } = provider;
  const good = total && reasons.length === 0 ? verdict('good', `Can accept ${formatMoney(total)}.`) : '';
  return html`<label class="card choice">
<input type="radio" name="provider" value="${code}"${code === selected ? html` checked` : ''}${is_active ? '' : html` disabled`}>
<span class="stack"><strong>${provider_name}</strong>
<span class="quiet">${limits(provider)}</span>
${reasons.map(({ message }) => verdict('bad', message))}${good}</span>
</label>`;
}

const verdict = (tone: 'good' | 'bad', text: string): Markup =>
  html`<span class="outcome ${tone}">${shape(tone)} ${text}</span>`;
