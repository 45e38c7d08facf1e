import type { PaymentProvider } from '@payment-service/core/client';
import { html } from 'hono/html';
import type { Offer, Preview } from '../checkout.ts';
import { formatMoney } from '../money.ts';
import { limits, prefixes } from './catalogue-page.ts';
import { fragment, type Markup, type Page } from './page.ts';

/** What assets/checkout.js puts in place of what the checkout shows, while the customer types. */
export function paymentChoicePart(preview: Preview): Promise<Page> {
  return fragment(html`${paymentChoice(preview)}<p id="said">${saidOf(preview)}</p>`);
}

/** The total, and each provider with its limits and what it says of this payment. */
export function paymentChoice(preview: Preview, problem?: string, hasFocus = false): Markup {
  const { total, offers, byPrefix } = preview;
  const first = hasFocus ? offers.find(({ provider }) => provider.is_active) : undefined;
  return html`<div id="choice">
<p class="total"><span>Your total</span> <strong>${total === undefined ? '–' : formatMoney(total.currency, total.amount)}</strong></p>
<fieldset id="provider"${problem === undefined ? '' : html` aria-describedby="provider-problem"`}>
<legend>How you want to pay</legend>
<input type="hidden" name="by_prefix" value="${byPrefix}" autocomplete="off">
${offers.length === 0 ? html`<p>No provider takes this currency at the moment.</p>` : ''}
${offers.map((offer) => choice(offer, preview, offer === first))}
${problem === undefined ? '' : html`<p class="problem" id="provider-problem">${problem}</p>`}
</fieldset>
</div>`;
}

/** One sentence for those who see the list, and for those who hear it. */
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

function choice({ provider, reasons }: Offer, { total, selected }: Preview, hasFocus: boolean): Markup {
  const { provider_code: code, provider_name, transaction_method_name, is_active } = provider;
  return html`<label class="card choice">
<input type="radio" name="provider" value="${code}"${code === selected ? html` checked` : ''}${is_active ? '' : html` disabled`}${hasFocus ? ' autofocus' : ''}>
<span><strong>${provider_name}</strong>
<span class="quiet">${transaction_method_name}, ${limits(provider)}${prefixes(provider)}</span>
${verdict(provider, reasons, total)}</span>
</label>`;
}

function verdict(
  provider: PaymentProvider,
  reasons: readonly string[],
  total: Preview['total'],
): Markup | '' {
  if (reasons.length > 0) {
    return html`${reasons.map((reason) => html`<span class="verdict no">${reason}</span>`)}`;
  }
  if (total === undefined) return '';
  return html`<span class="verdict yes">Can take ${formatMoney(provider.transaction_currency, total.amount)}.</span>`;
}
