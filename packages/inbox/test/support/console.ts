import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ConsoleAccess, type ConsoleOptions, inboxConsole } from '../../src/console/index.ts';
import type { Inbox } from '../../src/index.ts';
import { ACT_NAMES } from '../../src/operator/acts/action-log.ts';
import { newShop, type Shop } from './shop.ts';

export const ORIGIN = 'https://shop.example';
export const BASE = '/admin/payments';
export const EVERYTHING: ConsoleAccess['may'] = ['read', 'bodies', ...ACT_NAMES, 'reconcile'];

/** A page as a browser without scripts receives it. */
export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** What a reader sees of it. */
  readonly text: string;
}

/** A browser with its cookies. */
export interface Visitor {
  get(path: string, headers?: Record<string, string>): Promise<Shown>;
  /** The hidden fields of a form of this page. */
  fieldsOf(path: string, form: string): Promise<Record<string, string>>;
  /** Opens the page, sends its form with this id and these fields, and follows the response. */
  send(path: string, form: string, fields?: Record<string, string>): Promise<Shown>;
  /** Sends any form, with the cookies of the browser. */
  post(
    path: string,
    fields: Record<string, string> | FormData,
    headers?: Record<string, string>,
  ): Promise<Shown>;
}

/** The headers with which a browser says where a form of the console comes from. */
export const OWN: Record<string, string> = { origin: ORIGIN, 'sec-fetch-site': 'same-origin' };

/** A visitor of a console of this inbox. */
export function visit<Tx>(
  inbox: Inbox<Tx>,
  access: ConsoleAccess | ConsoleOptions['authorize'] = { by: 'dana', may: EVERYTHING },
  options: Partial<ConsoleOptions> = {},
): Visitor {
  const authorize = typeof access === 'function' ? access : () => access;
  const handle = inboxConsole(inbox, { basePath: BASE, authorize, ...options });
  const cookies = new Map<string, string>();
  const ask = async (
    path: string,
    init: RequestInit & { headers: Record<string, string> },
  ): Promise<Shown> => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const response = await handle(
      new Request(ORIGIN + path, { ...init, headers: { ...init.headers, cookie } }),
    );
    for (const [name, value] of cookiesOf(response)) {
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const { status, headers } = response;
    const html = await response.text();
    return { status, headers, html, text: textOf(html) };
  };
  const get: Visitor['get'] = (path, headers = {}) => ask(BASE + path, { headers });
  const post: Visitor['post'] = (path, fields, headers = OWN) =>
    ask(BASE + path, {
      method: 'POST',
      body: fields instanceof FormData ? fields : new URLSearchParams(fields),
      headers,
    });
  return {
    ...{ get, post },
    fieldsOf: async (path, form) => formIn((await get(path)).html, form).values,
    async send(path, form, fields = {}) {
      const { html } = await get(path);
      const { action, values } = formIn(html, form);
      const answer = await post(action.slice(BASE.length), { ...values, ...fields });
      const location = answer.headers.get('location');
      return location === null ? answer : get(location.slice(BASE.length).replace(/#.*/, ''));
    },
  };
}

/** The names and values of the cookies that a response sets. */
export function cookiesOf({ headers }: Response): [name: string, value: string][] {
  return headers.getSetCookie().map((line) => {
    const [name = '', value = ''] = line.split(';', 1).join().split('=');
    return [name, value];
  });
}

/** A form as its page shows it. */
interface Form {
  readonly action: string;
  /** What it sends before the reader changes it: hidden fields, and the first choices. */
  readonly values: Record<string, string>;
  readonly choices: readonly string[];
}

export function formIn(html: string, id: string): Form {
  const [, action, content] =
    new RegExp(`<form method="post" action="([^"]*)" id="${id}"[^>]*>(.*?)</form>`, 's').exec(html) ?? [];
  if (action === undefined || content === undefined) throw new Error(`The page has no form ${id}.`);
  const hidden = content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  const chosen = content.matchAll(/<select [^>]*?name="([^"]*)"[^>]*><option value="([^"]*)"/g);
  const sent = [...hidden, ...chosen].map(([, name, value]) => [name ?? '', unescaped(value ?? '')]);
  const choices = [...content.matchAll(/<option value="([^"]*)"/g)].map(([, value]) =>
    unescaped(value ?? ''),
  );
  return { action, values: Object.fromEntries(sent), choices };
}

/** The choice of a form of acts whose text begins with this. */
export function choiceIn(html: string, id: string, text: string): string {
  const [content = ''] = new RegExp(`id="${id}" class="form.*?</form>`, 's').exec(html) ?? [];
  const [, value] = new RegExp(`<option value="([^"]*)"[^>]*>${text}`).exec(content) ?? [];
  if (value === undefined) throw new Error(`The form ${id} has no choice ${text}.`);
  return unescaped(value);
}

/** The ids of the forms of a page. */
export const formsIn = (html: string): string[] =>
  [...html.matchAll(/<form method="post" action="[^"]*" id="([^"]*)"/g)].map(([, id = '']) => id);

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', '#39': "'", lt: '<', gt: '>', amp: '&' };

export const unescaped = (html: string): string =>
  html.replaceAll(/&(quot|#39|lt|gt|amp);/g, (one, name) => ENTITIES[name] ?? one);

export function textOf(html: string): string {
  return unescaped(html.replaceAll(/<[^>]+>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,:])/g, '$1')
    .trim();
}

/** The rows of the table with this id, or in the element with it: each cell as HTML, by the heading of its column. */
export function rowsIn(html: string, id: string): Readonly<Record<string, string>>[] {
  const table = new RegExp(`id="${id}".*?<thead>(.*?)</thead>\\s*<tbody>(.*?)</tbody>`, 's').exec(html);
  const [, head = '', body = ''] = table ?? [];
  const names = [...head.matchAll(/<th[^>]*>(.*?)<\/th>/gs)].map(([, name = '']) => textOf(name));
  return [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) => {
    const cells = [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell);
    return Object.fromEntries(names.map((name, place) => [name, cells[place] ?? '']));
  });
}

/** A shop on SQLite that received these payments, and whose handler fails for references that begin with DEAD. */
export async function newConsoleShop(...references: readonly string[]): Promise<Shop> {
  const options = { retry: { attempts: 1 }, onError: () => undefined };
  const shop: Shop = await newShop('sqlite', options, async ({ tx, signed, payment: { settled } }) => {
    if (signed.merchant_reference.startsWith('DEAD')) throw new Error('the ledger <b>is</b> away');
    await shop.merchant.credit(tx, signed.merchant_reference, settled?.amount ?? 'nothing');
  });
  shop.inbox.handle('failed', () => undefined);
  for (const reference of references) await shop.pay(reference);
  return shop;
}

/** The page of a payment. */
export const pageOf = (reference: string, type = 'COLLECTION'): string =>
  `/payment?${new URLSearchParams({ reference, type })}`;

/** The origin of a server that ends with the test. */
export async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
