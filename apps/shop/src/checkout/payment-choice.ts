import { type Markup, shape } from '@payment-service/pages';
import { html } from 'hono/html';
import { formatMoney } from '../books/money.ts';
import { fragment, type Page } from '../web/page.ts';
import { limits, prefixes } from './catalogue-page.ts';
import type { Offer, Preview } from './checkout.ts';

/** The part of the checkout that assets/checkout.js replaces while the customer types. */
export function paymentChoicePart(preview: Preview): Promise<Page> {
  return fragment(html`${paymentChoice(preview)}<p id="said">${saidOf(preview)}</p>`);
}

/** The total, and each provider with its limits and what it says about this payment. */
export function paymentChoice(preview: Preview, problem?: string, hasFocus = false): Markup {
  const { total, offers, byPrefix } = preview;
  const first = hasFocus ? offers.find(({ provider }) => provider.is_active) : undefined;
  return html`<div id="choice">
<p class="head total"><span>Your total</span> <strong>${total === undefined ? '–' : formatMoney(total.currency, total.amount)}</strong></p>
<fieldset id="provider"${problem === undefined ? '' : html` aria-describedby="provider-problem"`}>
<legend>How you want to pay</legend>
<input type="hidden" name="by_prefix" value="${byPrefix}" autocomplete="off">
${offers.length === 0 ? html`<p>No provider takes this currency at the moment.</p>` : ''}
${offers.map((offer) => choice(offer, preview, offer === first))}
${problem === undefined ? '' : html`<p class="problem" id="provider-problem">${problem}</p>`}
</fieldset>
</div>`;
}

/** One sentence, shown to readers and announced by screen readers. */
export function saidOf({ total, isAccountJudged, offers, selected, byPrefix }: Preview): string {
  if (total === undefined || offers.length === 0) return '';
  const price = formatMoney(total.currency, total.amount);
  if (offers.every(({ reasons }) => reasons.length > 0)) {
    return `No provider can take ${price}${isAccountJudged ? ' from this account' : ''}.`;
  }
  const chosen = offers.find(({ provider }) => provider.provider_code === selected);
  if (chosen === undefined) return '';
  if (chosen.reasons.length > 0)
    return `${chosen.provider.provider_name} is selected and cannot take this payment.`;
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
  return html`<span class="verdict good">${shape('good')}<span>Can take ${formatMoney(provider.transaction_currency, total.amount)}.</span></span>`;
}
