import { examplesOf } from '@payment-service/servers/examples';
import { expect, test } from 'vitest';
import { addresses } from '../../src/console/addresses.ts';
import { callback, evidence, paid } from '../support/callbacks.ts';
import { newConsoleShop, pageOf, type Shown, type Visitor, visit } from '../support/console.ts';
import type { Merchant } from '../support/merchant.ts';
import { actOn, DAY_MS, MINUTE_MS, money, newShop, REPLACE } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

/** Replaces what differs from one run to the next, and what is long. */
const LEFT_OUT: readonly (readonly [RegExp, string])[] = [
  [/(name="(?:proof|until|revision)" value="|data-version=")[0-9a-f]+/g, '$1…'],
  [/<time datetime="[^"]*"( data-age)? title="[^"]*">[^<]*/g, '<time$1>…'],
  [/20\d\d-\d\d-\d\dT[\d:.]+Z/g, '…'],
  [/20\d\d-\d\d-\d\d(?: \d\d:\d\d UTC|(?=<))/g, '…'],
  [/\b(since|until)=20\d\d-\d\d-\d\d/g, '$1=…'],
  // What is of today here is of yesterday shortly after midnight: other tests look at the sums.
  [/<a class="tile \w+" id="(today|yesterday)".*?<\/a>/gs, '<a id="$1">…'],
  [/due for \d+ seconds/g, 'due for … seconds'],
  [/([0-9a-f]{8})[0-9a-f]{56}/g, '$1…'],
  [/\r/g, ''],
  [/<figure.*?<\/figure>/gs, '<figure>…'],
  [/<svg.*?<\/svg>/g, ''],
  [/(The whole body<.*?<\/summary>).*?(<\/details>)/gs, '$1$2'],
];

/** In a fixed order: each has its own time. */
async function inOrder(merchant: Merchant, ...all: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const happens of all) {
    await happens();
    await merchant.advance(MINUTE_MS);
  }
}

const PERIOD = '/reconcile?from=2020-01-01&to=2099-01-01';

type Asked = readonly [path: string, shown: Promise<Shown>];
const of = (visitor: Visitor, ...paths: readonly string[]) =>
  paths.map((path) => (): Asked => [path, visitor.get(path)]);

/** Each page without the first lines of its head, and each file. */
async function written(asked: readonly (() => Asked)[]): Promise<string> {
  const pages: string[] = [];
  for (const ask of asked) {
    const [path, shown] = ask();
    const { status, html } = await shown;
    const [page] = /<title>.*/s.exec(html) ?? [html];
    pages.push(`<!-- ${status} ${path} -->\n${page.trim()}\n`);
  }
  return LEFT_OUT.reduce((text, [what, by]) => text.replaceAll(what, by), pages.join('\n'));
}

test('the pages of the console are as written down, with their words, links, colours and forms', async () => {
  const { inbox, pay, merchant } = await newConsoleShop();
  for (const reference of ['OK', 'DEAD-1', 'PART']) await inbox.expect(money(reference));
  const part = { transaction_amount: 300, customer_name: 'Another' };
  await inOrder(
    merchant,
    () => pay('OK'),
    () => pay('DEAD-1'),
    () => inbox.route.onCallback(paid('PART', 500)),
    () => inbox.route.onCallback(paid('PART', 500, part)),
    () => inbox.route.onCallback(callback({ merchant_reference: 'FAILED', transaction_status: 'FAILED' })),
    () => inbox.route.onAuthenticRefusal(evidence('ambiguous')),
    () => inbox.route.onCallback(paid('CLOSED', 500)),
    () => workOff(inbox),
    () => actOn(inbox, 'CLOSED', 'close'),
    () => pay('NONE'),
    () => inbox.expect({ ...money('LATE', '1234567.5'), deadline: new Date(0) }),
    () => inbox.route.onCallback(paid('DUE', 500)),
  );
  const references = ['OK', 'DEAD-1', 'PART', 'FAILED', 'ORD:1001', 'CLOSED', 'NONE', 'LATE'];
  const filters = ['', '?state=all', '?state=held', '?reason=no_expectation', '?search=x'];
  const paths = examplesOf('The console', addresses, {
    '/': '/',
    '/payments': filters.map((filter) => `/payments${filter}`),
    '/payment': [
      ...references.map((one) => pageOf(one)),
      '/payment',
      '/payment?reference=INT-OK',
      '/payment?reference=X',
    ],
    '/acts': ['/acts?act=retry&reason=attempts_used_up', '/acts?act=close&reason=amount_mismatch'],
    '/money': '/money',
    '/reconcile': '/reconcile',
    '/payments.csv': '/payments.csv',
  });
  const pages = await written([
    ...of(visit(inbox), ...paths.map(([path]) => path), '/x'),
    ...of(visit(inbox, { by: 'kim', may: ['read'] }), pageOf('PART')),
  ]);
  await expect(pages).toMatchFileSnapshot('all-pages.txt');
});

test('so are those of rarer states, of an empty inbox, and of what is refused', async () => {
  const { inbox: empty } = await newConsoleShop();
  // A retry that is not overdue yet when the pages are read, a minute plus this test's duration after its attempt.
  const retry = { attempts: 2, firstDelayMs: 50_000 };
  const options = { retry, statuses: { SENT: 'interim' } as const, onError: () => undefined };
  const shop = await newShop('sqlite', options, async ({ signed }) => {
    if (signed.merchant_reference === 'DEAD') throw new Error('the ledger is unavailable');
  });
  const { inbox, merchant, pay, workLater } = shop;
  inbox.handle('status', () => undefined);
  const out = { merchant_reference: 'OUT', transaction_type: 'PAYOUT' };
  const lacking = { request_amount: undefined, transaction_currency: undefined, transaction_amount: 12.5 };
  const second = { internal_reference: 'INT-2' };
  await inOrder(
    merchant,
    () => inbox.expect(money('OLD')),
    () => pay('OLD'),
    () => merchant.advance(2 * DAY_MS),
    () => inbox.prune({ archiveOlderThanDays: 1 }),
    () => inbox.expect({ ...money('OUT'), transaction_type: 'PAYOUT' }),
    () => inbox.expect({ ...money('ONE'), compare: 'request' }),
    () => inbox.expect({ ...money('NEW', 400) }),
    () => inbox.expect({ ...money('NEW'), deadline: new Date(4e12) }, REPLACE),
    () => inbox.expect(money('DEAD')),
    () => pay('OUT', 500, out),
    () => pay('ONE', 500, { transaction_amount: 450 }),
    () => pay('ONE', 500, second),
    () => pay('ONE', 500, { transaction_status: 'SENT' }),
    () => pay('SENT', 500, { transaction_status: 'SENT' }),
    () => pay('NEW', 400),
    () => pay('LACK', 0, lacking),
    () => pay('', 500),
    () => pay('NAMELESS', 500, { internal_reference: '' }),
    () =>
      inbox.route.onAuthenticRefusal(evidence('timestamp_out_of_tolerance', { merchant_reference: 'TIME' })),
    () => pay('DEAD'),
  );
  const references = ['OLD', 'ONE', 'NEW', 'LACK', '', 'NAMELESS', 'TIME', 'SENT', 'DEAD'];
  const visitor = visit(inbox);
  const pages = await written([
    ...of(visit(empty), '', '/payments', '/payments?state=held', '/payments?since=2026-01-01', '/money'),
    ...of(visit(empty), '/acts?act=retry&reason=attempts_used_up'),
    ...of(visitor, '', ...references.map((one) => pageOf(one)), pageOf('OUT', 'PAYOUT')),
    ...of(
      visitor,
      '/payments.csv',
      '/reconcile?from=x',
      ...['', '&before=0&after=0'].map((more) => PERIOD + more),
    ),
  ]);
  await workLater();
  const refused = (path: string, form: string) => (): Asked => [path, visitor.send(path, form)];
  const more = await written([
    ...of(visitor, pageOf('DEAD')),
    refused(pageOf('NEW'), 'retry'),
    refused(pageOf('NEW'), 'accept'),
    refused('/acts?act=close&reason=already_settled', 'close'),
    refused('/reconcile', 'statement'),
  ]);
  await expect(`${pages}\n${more}`).toMatchFileSnapshot('rare-pages.txt');
});
