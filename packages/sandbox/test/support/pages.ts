import type { Sandbox } from '../../src/index.ts';

/** A page as a browser without scripts receives it. */
export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The response to a form, and where the browser is redirected. */
export interface Sent extends Shown {
  readonly location: string | null;
}

/** Requests a page without a socket. */
export async function open(sandbox: Sandbox, path: string): Promise<Shown> {
  const response = await sandbox.fetch(`http://127.0.0.1${path}`, { headers: { accept: 'text/html' } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The id of a form, which it sends with its fields. */
function formOf(action: string, { currency, provider }: Readonly<Record<string, string>>): string {
  if (action === 'transfers' || action === 'deposits') return `${action.slice(0, -1)}-${currency}`;
  if (action === 'limits') return `limits-${provider}`;
  return action.replace(/^(collection|payout)s$/, '$1').replace(/^compose\/\d+$/, 'compose');
}

/** Sends a form from a page. */
export async function submit(
  sandbox: Sandbox,
  action: string,
  fields: Record<string, string> = {},
  from = '/',
): Promise<Sent> {
  const response = await sandbox.fetch(`http://127.0.0.1/dashboard/${action}`, {
    method: 'POST',
    body: new URLSearchParams({ at: formOf(action, fields), ...fields }),
    headers: { referer: `http://127.0.0.1${from}` },
    redirect: 'manual',
  });
  const { status, headers } = response;
  return { status, headers, text: await response.text(), location: headers.get('location') };
}

/** The fields of a collection as the dashboard's form sends them. */
export const collectionForm = {
  merchant_reference: 'ORD-1',
  provider: 'example_mobile_money UGX',
  amount: '500',
  account: '256772000001',
  ending: 'direct completed',
};

const entities: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
};

/** Markup without tags as its exact characters. */
export const unescaped = (text: string): string =>
  text.replaceAll(/&(?:quot|#39|lt|gt|amp);/g, (one) => entities[one] ?? one);

/** What a reader sees of a page or of a part of it. */
export const textOf = (html: string): string =>
  unescaped(html.replaceAll(/<[^>]+>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,:])/g, '$1')
    .trim();

/** The row of a list by its id. */
export const row = (html: string, id: string): string =>
  textOf(new RegExp(`<tr id="${id}">.*?</tr>`, 's').exec(html)?.[0] ?? '');

/** The ids of the rows of a list. */
export const rows = (html: string, list: string): string[] =>
  [...html.matchAll(new RegExp(`<tr id="${list}-([^"]+)">`, 'g'))].map(([, id]) => id ?? '');

/** A part of a page by its id, up to the end of its kind of element. */
export const part = (html: string, id: string, tag: string): string =>
  new RegExp(`<${tag}[^>]* id="${id}".*?</${tag}>`, 's').exec(html)?.[0] ?? '';

/** The content of an element that has a button to copy it, as a reader copies it. */
export const copied = (html: string, id: string): string =>
  unescaped(new RegExp(`id="${id}-text">(.*?)</pre>`, 's').exec(html)?.[1] ?? '');
