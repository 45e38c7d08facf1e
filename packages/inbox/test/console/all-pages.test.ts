import { examplesOf } from '@payment-service/servers/examples';
import { expect, test } from 'vitest';
import { addresses } from '../../src/console/addresses.ts';
import type { Inbox } from '../../src/index.ts';
import { callback, evidence, paid } from '../support/callbacks.ts';
import { newConsoleShop, pageOf, type Shown, type Visitor, visit } from '../support/console.ts';
import type { Merchant } from '../support/merchant.ts';
import { DAY_MS, MINUTE_MS, money, NOTE, newShop, REPLACE, seen } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

/** Replaces what differs from one run to the next, and what is long. */
const LEFT_OUT: readonly (readonly [RegExp, string])[] = [
  [/(name="(?:proof|until|revision)" value="|data-version=")[0-9a-f]+/g, '$1…'],
  [/<time datetime="[^"]*"( data-age)? title="[^"]*">[^<]*/g, '<time$1>…'],
  [/20\d\d-\d\d-\d\dT[\d:.]+Z/g, '…'],
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

/** The stories of everything with a given reference. */
async function storiesOf<Tx>(inbox: Inbox<Tx>, ...references: readonly string[]): Promise<string[]> {
  const found = await Promise.all(references.map((one) => inbox.list({ merchant_reference: one })));
  return found.flat().map(({ transitionId }) => `/transitions/${transitionId}`);
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
  const closed = paid('CLOSED', 500);
  const part = { transaction_amount: 300, customer_name: 'Another' };
  await inOrder(
    merchant,
    () => pay('OK'),
    () => pay('DEAD-1'),
    () => inbox.route.onCallback(paid('PART', 500)),
    () => inbox.route.onCallback(paid('PART', 500, part)),
    () => inbox.route.onCallback(callback({ merchant_reference: 'FAILED', transaction_status: 'FAILED' })),
    () => inbox.route.onAuthenticRefusal(evidence('ambiguous')),
    () => inbox.route.onCallback(closed),
    () => workOff(inbox),
    async () => inbox.resolve(await seen(inbox, closed.transitionId), NOTE),
    () => pay('NONE'),
    () => inbox.expect({ ...money('LATE', '1234567.5'), deadline: new Date(0) }),
    () => inbox.route.onCallback(paid('DUE', 500)),
  );
  const references = ['OK', 'DEAD-1', 'PART', 'FAILED', 'ORD:1001', 'CLOSED', 'NONE', 'DUE'];
  const stories = await storiesOf(inbox, ...references);
  const filters = ['', '?state=quarantined', '?state=unhandled&reason=no_expectation', '?reference=X'];
  const paths = examplesOf('The console', addresses, {
    '/': '/',
    '/transitions': filters.map((filter) => `/transitions${filter}`),
    '/transitions/:id': stories,
    '/paid': ['', ...references, 'INT-OK', 'LATE', 'X'].map((one) => `/paid?reference=${one}`),
    '/bulk': ['/bulk?action=retry&state=dead', '/bulk?action=resolve&state=quarantined'],
    '/overdue': '/overdue',
    '/reconcile': '/reconcile',
    '/transitions.csv': '/transitions.csv',
    '/overdue.csv': '/overdue.csv',
  });
  const pages = await written([
    ...of(visit(inbox), ...paths.map(([path]) => path), '/x'),
    ...of(visit(inbox, { by: 'kim', may: ['read'] }), stories[2] ?? ''),
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
  const references = ['OLD', 'OUT', 'ONE', 'NEW', 'LACK', '', 'NAMELESS', 'TIME', 'SENT', 'DEAD'];
  const visitor = visit(inbox);
  const pages = await written([
    ...of(visit(empty), '', '/transitions', '/transitions?state=dead', '/overdue', '/paid?reference=X'),
    ...of(visit(empty), '/bulk?action=retry&state=dead', '/transitions?reference=X&state=dead'),
    ...of(visitor, '', ...(await storiesOf(inbox, ...references))),
    ...of(visitor, ...references.map((one) => `/paid?reference=${one}`)),
    ...of(
      visitor,
      '/transitions.csv',
      '/reconcile?from=x',
      ...['', '&before=0&after=0'].map((more) => PERIOD + more),
    ),
  ]);
  await workLater();
  const refused = (path: string, form: string) => (): Asked => [path, visitor.send(path, form)];
  const more = await written([
    ...of(visitor, ...(await storiesOf(inbox, 'DEAD'))),
    refused(pageOf('NEW'), 'retry'),
    refused(pageOf('NEW'), 'accept'),
    refused('/bulk?action=resolve&state=conflict&reason=already_settled', 'resolve'),
    refused('/reconcile', 'statement'),
  ]);
  await expect(`${pages}\n${more}`).toMatchFileSnapshot('rare-pages.txt');
});
