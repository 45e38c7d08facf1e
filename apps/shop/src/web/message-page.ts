import { html } from 'hono/html';
import { type Order, orderState } from '../order.ts';
import { type Page, page } from './page.ts';

interface Message {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** The ways on, the first one as a button. Default: back to the shop. */
  readonly links?: readonly (readonly [address: string, name: string])[];
}

/** A page that says one thing, and the ways on. */
export function messagePage({
  status,
  title,
  text,
  links = [['/', 'Back to the shop']],
}: Message): Promise<Page> {
  return page({
    status,
    title,
    main: html`<h1>${title}</h1>
<p>${text}</p>
${links.map(([address, name], index) => html`<p><a${index === 0 ? html` class="button"` : ''} href="${address}">${name}</a></p>`)}`,
  });
}

/** In place of a form for an order that was placed already, so that a customer who goes back does not pay twice. */
export function placedPage(order: Order): Promise<Page> {
  const { reference, productId, quantity, item } = order;
  const isPaid = orderState(order) === 'paid';
  return messagePage({
    status: 200,
    title: isPaid ? 'This order is paid' : 'You have placed this order already',
    text: isPaid
      ? `${quantity} × ${item}: order ${reference} is paid. Nothing more is to be paid for it.`
      : `${quantity} × ${item}: order ${reference} is not confirmed as paid yet. If you have paid, please do not pay a second time.`,
    links: [
      [`/orders/${reference}`, 'See your order'],
      ...(isPaid ? [] : [[`/orders/${reference}/again`, 'Change it and pay anew'] as const]),
      [`/checkout?product=${encodeURIComponent(productId)}&after=${reference}`, 'Order another'],
      ['/', 'Back to the shop'],
    ],
  });
}

/** For a request under a name that is not the shop's: see isOwnHost() in same-site.ts. */
export function otherHostPage(shopUrl: string): Promise<Page> {
  return messagePage({
    status: 421,
    title: 'Not the address of this shop',
    text: `The shop answers under its own addresses only, so nothing was shown or done. It is at ${shopUrl}. If you run it and reach it under another address, set SHOP_URL to that.`,
    links: [[`${shopUrl}/`, 'Back to the shop']],
  });
}

/** The pages that a framework needs when it gives up on a request itself. */
export function problemPage(status: number): Promise<Page> {
  if (status === 404) {
    return messagePage({ status, title: 'Not found', text: 'There is nothing under this address.' });
  }
  if (status === 413) {
    return messagePage({ status, title: 'Too much', text: 'The form holds more than this shop takes.' });
  }
  if (status === 403) {
    return messagePage({
      status,
      title: 'Not from here',
      text: 'Another site sent this form, so nothing was done. Open the page in the shop, and send it from there.',
    });
  }
  if (status >= 400 && status < 500) {
    return messagePage({ status, title: 'That did not work', text: 'The shop could not read this request.' });
  }
  return messagePage({
    status: 500,
    title: 'Something went wrong',
    text: 'It is our fault, and the shop owner can see it in the log. A payment that you made is not lost by it.',
  });
}
