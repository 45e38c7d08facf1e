import { expect, test } from 'vitest';
import type { CollectionRequest } from '../src/index.ts';
import { collection, payout } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { collectionForm, open } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();

/** Replaces what differs from one run to the next, and what is long. */
const LEFT_OUT: readonly (readonly [RegExp, string])[] = [
  [/data-version="\d+"/g, 'data-version="…"'],
  [/\d+ ms\b/g, '… ms'],
  [/payment-service-sandbox\/[\w.-]+/g, 'payment-service-sandbox/…'],
  [/<svg.*?<\/svg>/g, ''],
];

/** The responses of the merchant, by reference; any other callback is accepted. */
const ANSWERS: Readonly<Record<string, readonly [status: number, body: string, type?: string]>> = {
  DOWN: [500, 'why'],
  CHECKED: [401, '{"code":401}'],
  HIDDEN: [401, '{"error":"unauthorized"}'],
  SHOP: [200, '<!doctype html><h1>Shop</h1>', 'text/html; charset=utf-8'],
};

function openShop(): void {
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    const body = await new Response(init?.body).text();
    const [, reference = ''] = /"merchant_reference":"(\w+)/.exec(body) ?? [];
    const [status, text, type = 'application/json'] = ANSWERS[reference] ?? [200, '{"status":"accepted"}'];
    return new Response(text, { status, headers: { 'content-type': type } });
  };
  const callbackUrl = 'http://127.0.0.1:3000/callbacks';
  const retry = { max_attempts: 2, backoff_ms: 0 };
  stage.open({ seed: 'pages', clock: createManualClock(), callbackUrl, fetch, retry });
}

type Asked = readonly [asked: string, text: string];

/** The main part of each page, or its lines that match. */
function written(pages: readonly Asked[], lines = /^/): string {
  const parts = pages.map(([asked, text]) => {
    const main = text.slice(text.indexOf('<main'), text.indexOf('</main>'));
    const kept = main.split('\n').filter((line) => line !== '' && lines.test(line));
    return `<!-- ${asked} -->\n${kept.join('\n')}\n`;
  });
  return LEFT_OUT.reduce((text, [what, by]) => text.replaceAll(what, by), parts.join('\n'));
}

const read = (paths: readonly string[]): Promise<Asked[]> =>
  Promise.all(
    paths.map(async (path): Promise<Asked> => {
      const { status, text } = await open(stage.sandbox, `/${path}`);
      return [`/${path}: ${status}`, text];
    }),
  );

const LISTS =
  ' transactions deliveries deliveries/failures requests wallets wallets/UGX providers check explain start settings';

test('the pages of a new sandbox, and of what does not exist, are as written down', async () => {
  openShop();
  const missing = 'nothing transactions/9 deliveries/9 requests/9 compose/9 wallets/EUR deliveries?q=none';
  const pages = await read(`${LISTS} ${missing}`.split(' '));
  stage.open({ clock: createManualClock(), seed: 'pages', callbackUrl: undefined });
  stage.collect({ mode: 'pending' });
  pages.push(...(await read(['', 'transactions/1001'])));
  await expect(written(pages)).toMatchFileSnapshot('pages/new.txt');
});

/** What happens in the shop, by reference. */
const STORY: Readonly<Record<string, Partial<CollectionRequest>>> = {
  CARD: { provider_code: 'example_card_ugx', amount: 10_000, redirect_url: 'http://127.0.0.1:3000/orders/1' },
  DOWN: {},
  CHECKED: { misbehave: { bad_signature: true } },
  TRUSTING: { misbehave: { bad_signature: true } },
  HIDDEN: {},
  SHOP: { callback_url: 'http://127.0.0.1:3000/other?a=1&b=2' },
  COPIES: { misbehave: { forged_amount: 1, duplicate: 1 } },
  MOVED: { misbehave: { t_offset_seconds: -10 } },
  REVERSED: { misbehave: { status: 'REVERSED' } },
  DECLINED: { outcome: 'failed' },
  WAITING: { mode: 'pending' },
  PAGE: { mode: 'page', charge_customer: true },
};

/** A shop in which everything has happened once. Returns the address of a payment page. */
async function openLivedIn(): Promise<string> {
  openShop();
  let page = '';
  for (const [merchant_reference, how] of Object.entries(STORY)) {
    const { payment_page_url } = stage.collect({ merchant_reference, ...how });
    page = payment_page_url ?? page;
    if (merchant_reference === 'CARD') {
      const body = new URLSearchParams({ choice: 'pay' });
      await stage.sandbox.fetch(page, { method: 'POST', body });
    }
    await stage.sandbox.idle();
  }
  stage.sandbox.deposit({ currency: 'KES', amount: 12.5 });
  stage.sandbox.deposit({ currency: 'UGX', amount: 20_000 });
  stage.sandbox.transfer({ currency: 'UGX', amount: 10_000 });
  const bank = { provider_code: 'example_bank', bank_code: 'EX001', amount: 5000 };
  stage.sandbox.payout({ ...payout, ...bank, mode: 'pending' });
  const order = { ...collection, merchant_reference: 'ASKED', mode: 'pending' };
  await stage.call('POST', '/sandbox/collections', order);
  await stage.call('POST', '/sandbox/transactions/1015/outcome', { outcome: 'failed' });
  await stage.call('POST', '/sandbox/deliveries/1/resend');
  await stage.sandbox.idle();
  stage.collect({ merchant_reference: 'LATE', misbehave: { late_ms: 60_000 } });
  stage.collect({ merchant_reference: 'HELD', misbehave: { out_of_order: true } });
  await stage.call('POST', '/sandbox/collections', { merchant_reference: 'WRONG' });
  await stage.call('GET', '/data/wallet-balances');
  return new URL(page).pathname;
}

/** Filters, searches, comparisons and one page of each kind; compositions; and forms whose choices are in the address. */
const IN_USE = `${LISTS}
transactions?state=PENDING transactions?q=ca&state=COMPLETED deliveries?state=attention deliveries?q=http+500
deliveries?q=shop&endpoint=http%3A%2F%2F127.0.0.1%3A3000%2Fother%3Fa%3D1%26b%3D2 deliveries?state=failed
deliveries?state=failed&endpoint=http%3A%2F%2F127.0.0.1%3A3000%2Fother%3Fa%3D1%26b%3D2 deliveries/compare
deliveries/compare?of=1 deliveries/compare?of=1&of=1 deliveries/compare?of=1&of=99 deliveries/compare?of=1&of=2&of=3
deliveries/compare?of=2&of=1 deliveries/1 deliveries/10 requests?state=refused requests?q=asked requests?q=wrong
requests/1 requests/2 requests/3 requests/4 settings/reset compose/1001 compose/1 compose/1?status=FAILED&signature=keep compose/1001?bad_signature=yes
compose/1001?preset=edit_body compose/1001?forged_amount=1&status=REVERSED&t_offset_seconds=-3600
compose/1001?forged_amount=&event=transaction.reviewed&late_ms=5&preset=forged_first
compose/1001?body=%3C%2Ftextarea%3E%3Cscript%3E1%3C%2Fscript%3E
start?at=payout&provider=example_bank+UGX&account=77&customer_name=Zo%C3%AB
start?at=payout&provider=savanna_mobile_money+KES&account=77&customer_name=`.split(/\s/);
/** What was sent and received is on the pages of two deliveries; of the others, what is above it. */
const HEAD = /<h1>|class="note|State|Changes|data-says/;

test('the pages of a sandbox in use are as written down, with their words, links, states and forms', async () => {
  const page = await openLivedIn();
  await stage.sandbox.check();
  const transactions = Object.keys(STORY).map((_, index) => `transactions/${1001 + index}`);
  const pages = written(await read([...IN_USE, ...transactions, page.slice(1)]));
  const deliveries = stage.sandbox.deliveries().map(({ id }) => `deliveries/${id}`);
  const heads = written(await read(deliveries), HEAD);
  await expect(`${pages}\n${heads}`).toMatchFileSnapshot('pages/in-use.txt');
});

const MOBILE = 'example_mobile_money-UGX-payout';
/** What a reader changes, and what is refused afterwards: the form and its fields. */
const CHANGED = `misbehaviour?duplicate=2&bad_signature=yes&t_unit=milliseconds&omit_fields=customer_name+id&extra_fields={"note":1}
defaults?max_attempts=7&backoff_ms=10&resign=anew&retry=5xx-and-429
addresses?redirect_url=http://127.0.0.1:3000/return
api?api_latency_ms=40&api_error=503
clock?advance_seconds=7200
providers?off=${MOBILE}
banks?off=example_bank+EX001
limits?provider=${MOBILE}&min_amount=2&max_amount=30&max_daily_amount=400
collections?account=256700000001&customer_name=Zoë+"Z"+<b>&misbehave=late&charge_customer=yes`;
const REFUSED = `collections?amount=
collections?amount=1.5
collections?merchant_reference=
collections?provider=nothing+UGX
payouts?amount=31
clock?advance_seconds=soon
addresses?callback_url=http://a.example/
transfers?currency=UGX&amount=7
deposits?currency=UGX&amount=0.5
limits?provider=${MOBILE}&min_amount=2&max_amount=1&max_daily_amount=400
limits?provider=${MOBILE}
api?api_latency_ms=-1
misbehaviour?late_ms=-1
check?callback_url=http://elsewhere.example/
compose/1001?duplicate=99
compose/1001?extra_fields=note
compose/1001?forged_amount=1.5
compose/1001?callback_url=http://elsewhere.example/
compose/1001?forged_currency=usd
transactions/1001/outcome?outcome=completed`;

test('the pages of settings that a reader has changed, and of what was refused, are as written down', async () => {
  openShop();
  stage.collect();
  await stage.sandbox.idle();
  const send = async (form: string): Promise<Asked> => {
    const [action = '', query] = form.split('?');
    const filled = /^(?:collections|payouts)$/.test(action) ? collectionForm : {};
    const typed = { ...filled, ...Object.fromEntries(new URLSearchParams(query)) };
    const { status, location, text } = await stage.submit(action, typed, '/transactions/1001');
    return [`${form}: ${status} ${location ?? ''}`, text];
  };
  const sent: Asked[] = [];
  for (const form of CHANGED.split('\n')) sent.push(await send(form));
  sent.push(...(await read(['', 'settings', 'providers'])));
  const refused: Asked[] = [];
  for (const form of REFUSED.split('\n')) refused.push(await send(form));
  // A composition is refused when it is shown as well.
  refused.push(...(await read(REFUSED.split('\n').filter((form) => form.startsWith('compose')))));
  expect(stage.sandbox.deliveries()).toHaveLength(1);
  const pages = `${written(sent)}\n${written(refused, /<h1>|problem|note bad|<details[^>]* open|autofocus/)}`;
  expect(pages).not.toMatch(/Invalid input|NaN/);
  await expect(pages).toMatchFileSnapshot('pages/changed.txt');
});
