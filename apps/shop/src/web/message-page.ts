import { html } from 'hono/html';
import { type Page, page } from './page.ts';

interface Message {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** Links to continue, the first one as a button. Default: back to the shop. */
  readonly links?: readonly (readonly [address: string, name: string])[];
}

/** A page with one message and links to continue. */
export function messagePage({
  status,
  title,
  text,
  links = [['/', 'Back to the shop']],
}: Message): Promise<Page> {
  return page({
    status,
    title,
    main: html`<p>${text}</p>
${links.map(([address, name], index) => html`<p><a${index === 0 ? html` class="button main"` : ''} href="${address}">${name}</a></p>`)}`,
  });
}

/** For a request under a foreign host name: see isOwnHost() in same-site.ts. */
export function otherHostPage(shopUrl: string): Promise<Page> {
  return messagePage({
    status: 421,
    title: 'Not the address of this shop',
    text: `The shop only answers under its own addresses, so nothing was shown or done. Its address is ${shopUrl}. If you run it under another address, set SHOP_URL to that.`,
    links: [[`${shopUrl}/`, 'Back to the shop']],
  });
}

const PROBLEMS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  403: [
    'Form from another site',
    'Another site sent this form, so nothing was done. Open the page in the shop and submit the form there.',
  ],
  404: ['Not found', 'There is no page at this address.'],
  413: ['Form too large', 'The form is larger than this shop accepts.'],
};
const UNREADABLE = ['That did not work', 'The shop could not read this request.'] as const;
const FAULT = [
  'Something went wrong',
  'The error is in the shop, and its owner can see it in the log. If you paid, the payment is not lost.',
] as const;

/** The pages that a framework needs when it rejects a request itself. */
export function problemPage(status: number): Promise<Page> {
  const isOurs = status < 400 || status >= 500;
  const [title, text] = PROBLEMS[status] ?? (isOurs ? FAULT : UNREADABLE);
  return messagePage({ status: isOurs ? 500 : status, title, text });
}
