import type { ClientWithSecretKey, PaymentProvider } from '@payment-service/core/client';
import { badge, html, type Markup } from '@payment-service/pages';
import { formatMoney, type Money } from '../books/order.ts';
import { type Page, page } from '../web/page.ts';

export interface Product {
  /** Letters, digits and hyphens: it names a cookie, and the picture in assets/pictures. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly price: Money;
}

/** What the shop sells. The sticker costs less than any provider accepts: buying one shows a refusal. */
export const catalogue: readonly Product[] = [
  {
    id: 'coffee',
    name: 'Coffee beans, 500 g',
    description: 'Washed arabica from the slopes of the mountain, roasted this week.',
    price: { currency: 'UGX', amount: '18000' },
  },
  {
    id: 'basket',
    name: 'Reed basket',
    description: 'Woven by hand, wide enough for the market.',
    price: { currency: 'UGX', amount: '45000' },
  },
  {
    id: 'lamp',
    name: 'Solar lamp',
    description: 'Eight hours of light from one day of sun.',
    price: { currency: 'UGX', amount: '120000' },
  },
  {
    id: 'tea',
    name: 'Highland tea, 250 g',
    description: 'Loose black tea, picked above the clouds.',
    price: { currency: 'KES', amount: '450' },
  },
  {
    id: 'cookbook',
    name: 'Cookbook, to download',
    description: 'Forty recipes for one pot. Paid by card.',
    price: { currency: 'USD', amount: '12.50' },
  },
  {
    id: 'sticker',
    name: 'Sticker',
    description: 'So small a price that no provider accepts it. Try to buy just one.',
    price: { currency: 'UGX', amount: '300' },
  },
];

/** The providers of the payment service for a product, with those that cannot accept every payment of it. */
export function providersFor(client: ClientWithSecretKey, { price }: Product): Promise<PaymentProvider[]> {
  return client.listPaymentProviders({ currency: price.currency, transaction_type: 'COLLECTION' });
}

/**
 * @param providers what the payment service offers; undefined while it is unavailable.
 * @param last the last order of each product in this browser.
 */
export function cataloguePage(
  catalogue: readonly Product[],
  providers: readonly PaymentProvider[] | undefined,
  last: ReadonlyMap<string, string>,
): Promise<Page> {
  return page({
    title: 'Shop',
    section: '/',
    heading: 'Good things from the hillside',
    main: html`<ul class="products">
${catalogue.map((product) => productCard(product, last.get(product.id)))}
</ul>
<section class="stack" aria-labelledby="pay">
<h2 id="pay">How you can pay</h2>
${paymentOptions(providers)}
</section>`,
  });
}

function productCard({ id, name, description, price }: Product, last: string | undefined): Markup {
  const query = new URLSearchParams({ product: id, ...(last === undefined ? {} : { after: last }) });
  return html`<li class="card product">
<img src="/assets/pictures/${id}.svg" alt="" width="320" height="180">
<h2>${name}</h2>
<p>${description}</p>
<p class="head buy"><strong>${formatMoney(price.currency, price.amount)}</strong>
<a class="button main" href="/checkout?${query.toString()}">Buy<span class="hidden-text"> ${name}</span></a></p>
</li>`;
}

function paymentOptions(providers: readonly PaymentProvider[] | undefined): Markup {
  if (providers === undefined) {
    return html`<p class="note wait">The payment service is unavailable at the moment, so nothing can be paid.
You can look around; try again in a few minutes.</p>`;
  }
  if (providers.length === 0) return html`<p>The payment service offers no way to pay at the moment.</p>`;
  return html`<ul class="options">
${providers.map(
  (provider) => html`<li class="card">
<h3>${provider.provider_name}</h3>
<p>${provider.transaction_method_name}, ${limits(provider)}${prefixes(provider)}</p>
${provider.is_active ? '' : html`<p>${badge('wait', 'Not available now')}</p>`}
</li>`,
)}
</ul>`;
}

export function limits({ transaction_currency, min_amount, max_amount }: PaymentProvider): string {
  return `${formatMoney(transaction_currency, min_amount)} to ${formatMoney(transaction_currency, max_amount)}`;
}

export function prefixes({ option_prefixes }: PaymentProvider): string {
  return option_prefixes.length === 0 ? '' : `, numbers that start with ${option_prefixes.join(', ')}`;
}
