import { html } from 'hono/html';
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
    main: html`<p>${text}</p>
${links.map(([address, name], index) => html`<p><a${index === 0 ? html` class="button main"` : ''} href="${address}">${name}</a></p>`)}`,
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

const PROBLEMS: Readonly<Record<number, readonly [title: string, text: string]>> = {
  403: [
    'Not from here',
    'Another site sent this form, so nothing was done. Open the page in the shop, and send it from there.',
  ],
  404: ['Not found', 'There is nothing under this address.'],
  413: ['Too much', 'The form holds more than this shop takes.'],
};
const UNREADABLE = ['That did not work', 'The shop could not read this request.'] as const;
const FAULT = [
  'Something went wrong',
  'It is our fault, and the shop owner can see it in the log. A payment that you made is not lost by it.',
] as const;

/** The pages that a framework needs when it gives up on a request itself. */
export function problemPage(status: number): Promise<Page> {
  const isOurs = status < 400 || status >= 500;
  const [title, text] = PROBLEMS[status] ?? (isOurs ? FAULT : UNREADABLE);
  return messagePage({ status: isOurs ? 500 : status, title, text });
}
