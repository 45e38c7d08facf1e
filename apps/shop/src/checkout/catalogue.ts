import type { ClientWithSecretKey, PaymentProvider } from '@payment-service/core/client';
import { badge, html, type Markup } from '@payment-service/pages';
import { formatMoney, type Product } from '../books/order.ts';
import { type Page, page } from '../web/page.ts';
import products from './products.json' with { type: 'json' };

/** What the shop sells. The sticker costs less than any provider accepts: buying one shows a refusal. */
export const catalogue: readonly Product[] = products;

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
    main: html`<ul class="tiles products">${catalogue.map((product) => productCard(product, last.get(product.id)))}</ul>
<section class="stack" aria-labelledby="pay"><h2 id="pay">How you can pay</h2>${paymentOptions(providers)}</section>`,
  });
}

function productCard({ id, name, description, price }: Product, last: string | undefined): Markup {
  const query = new URLSearchParams({ product: id, ...(last === undefined ? {} : { after: last }) });
  return html`<li class="card product">
<img class="large" src="/assets/pictures/${id}.svg" alt="">
<h2>${name}</h2>
<p>${description}</p>
<p class="head price"><strong>${formatMoney(price)}</strong>
<span class="actions"><a class="button main" href="/checkout?${query}">Buy<span class="hidden-text"> ${name}</span></a></span></p>
</li>`;
}

function paymentOptions(providers: readonly PaymentProvider[] | undefined): Markup {
  if (providers === undefined) {
    return html`<p class="note wait">The payment service is unavailable at the moment, so nothing can be paid.
You can look around; try again in a few minutes.</p>`;
  }
  if (providers.length === 0) return html`<p>The payment service offers no way to pay at the moment.</p>`;
  return html`<ul class="rows">${providers.map(
    (provider) => html`<li><strong>${provider.provider_name}</strong><span>${limits(provider)}</span>
${provider.is_active ? '' : badge('wait', 'Not available now')}</li>`,
  )}</ul>`;
}

/** How, how much and for which accounts. */
export function limits(provider: PaymentProvider): string {
  const { transaction_method_name: method, transaction_currency: currency, option_prefixes } = provider;
  const [from, to] = [provider.min_amount, provider.max_amount].map((amount) =>
    formatMoney({ currency, amount }),
  );
  const prefixes =
    option_prefixes.length === 0 ? '' : `, numbers that start with ${option_prefixes.join(', ')}`;
  return `${method}, ${from} to ${to}${prefixes}`;
}
