import { newFormId } from '../../src/books/orders.ts';

/** What the customer's browser received. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly location: string;
  readonly body: string;
}

export interface PlacedOrder {
  readonly reference: string;
  readonly paymentUrl: string;
}

/** A customer with a browser that keeps cookies and shows every step: it follows no redirects automatically. */
export class Customer {
  /** By path and name. */
  readonly #cookies = new Map<string, { readonly pair: string; readonly path: string }>();
  readonly shop: { readonly origin: string };

  constructor(shop: { readonly origin: string }) {
    this.shop = shop;
  }

  get(address: string): Promise<Answer> {
    return this.#send(address, { method: 'GET' });
  }

  post(address: string, form: Readonly<Record<string, string>>): Promise<Answer> {
    return this.#send(address, { method: 'POST', body: new URLSearchParams(form) });
  }

  /** The content of a page. */
  async read(address: string): Promise<string> {
    return (await this.get(address)).body;
  }

  /** Opens a payment of the inbox, and submits its form of this name with these fields, like the owner's browser. */
  async act(reference: string, form: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const body = await this.read(`/owner/inbox/payment?reference=${reference}`);
    const pattern = new RegExp(`<form method="post" action="([^"]*)" id="${form}"[^>]*>([\\s\\S]*?)</form>`);
    const [, action = '', inside = ''] = pattern.exec(body) ?? [];
    return this.post(action, { ...hiddenIn(inside), ...fields });
  }

  /** Fills in the checkout form and submits it, whatever the result. */
  checkOut(form: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.post('/checkout', {
      product: 'coffee',
      quantity: '1',
      name: 'Example Customer',
      account: '256770000001',
      provider: 'example_mobile_money',
      // As if its page had been opened first: a different form each time.
      form_id: newFormId(),
      ...form,
    });
  }

  async placeOrder(form?: Readonly<Record<string, string>>): Promise<PlacedOrder> {
    const { status, location, headers } = await this.checkOut(form);
    const reference = /order=([^;]+)/.exec(headers.get('set-cookie') ?? '')?.[1];
    if (status !== 303 || reference === undefined) throw new Error(`The checkout answered ${status}.`);
    return { reference, paymentUrl: location };
  }

  /** Presses a button of the payment page, and returns the redirect that the browser would follow. */
  async decide(paymentUrl: string, choice: 'pay' | 'decline'): Promise<string> {
    const { location } = await this.post(paymentUrl, { choice });
    return location;
  }

  orderPage(reference: string): Promise<string> {
    return this.read(`/orders/${reference}`);
  }

  async #send(address: string, init: RequestInit): Promise<Answer> {
    const url = new URL(address, this.shop.origin);
    const cookies = [...this.#cookies.values()].filter(({ path }) => url.pathname.startsWith(path));
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: {
        ...(init.method === 'POST' ? { origin: url.origin } : {}),
        ...(cookies.length === 0 ? {} : { cookie: cookies.map(({ pair }) => pair).join('; ') }),
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const path = /path=([^;]+)/i.exec(line)?.[1] ?? '/';
      this.#cookies.set(`${path} ${pair.split('=')[0]}`, { pair, path });
    }
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location') ?? '',
      body: await response.text(),
    };
  }
}

/** The hidden fields of a form, or of a page with one form. */
export function hiddenIn(markup: string): Record<string, string> {
  const fields = markup.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name, value]) => [name, value?.replaceAll('&quot;', '"')]));
}
