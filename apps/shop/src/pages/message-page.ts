import { html } from 'hono/html';
import { type Page, page } from './page.ts';

interface Message {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  /** The address of the shop, where the page was asked for under another one. */
  readonly shopUrl?: string;
}

/** A page that says one thing, and the way back. */
export function messagePage({ status, title, text, shopUrl = '' }: Message): Promise<Page> {
  return page({
    status,
    title,
    main: html`<h1>${title}</h1>
<p>${text}</p>
<p><a class="button" href="${shopUrl}/">Back to the shop</a></p>`,
  });
}

/** For a request under a name that is not the shop's: see isOwnHost() in same-site.ts. */
export function otherHostPage(shopUrl: string): Promise<Page> {
  return messagePage({
    status: 421,
    title: 'Not the address of this shop',
    text: `The shop answers under its own addresses only, so nothing was shown or done. It is at ${shopUrl}. If you run it and reach it under another address, set SHOP_URL to that.`,
    shopUrl,
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
