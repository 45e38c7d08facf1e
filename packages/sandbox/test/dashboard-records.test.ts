import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { call, collection } from './support/api.ts';
import { row, rows, textOf, unescaped } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
const { show } = stage;
const part = (html: string, id: string, tag: string): string =>
  new RegExp(`<${tag}[^>]* id="${id}".*?</${tag}>`, 's').exec(html)?.[0] ?? '';
/** The content of an element, as a reader copies it. */
const copied = (html: string, id: string): string => {
  const [, text = ''] = new RegExp(`id="${id}-text">(.*?)</pre>`, 's').exec(html) ?? [];
  return unescaped(text);
};

describe('with 500 transactions', () => {
  test('the list has pages, the oldest is found by its reference, and a search keeps its filter', async () => {
    const sandbox = stage.open({ callbackUrl: undefined });
    for (let i = 1; i <= 500; i += 1)
      sandbox.collect({
        ...collection,
        merchant_reference: `ORD-${i}`,
        mode: i % 5 === 0 ? 'pending' : 'direct',
      });
    const first = await show('/transactions');
    expect(rows(first, 'transactions')).toHaveLength(25);
    expect(textOf(part(first, 'main', 'main'))).toContain('1 to 25 of 500');
    expect(textOf(first)).toContain('All 500 Pending 100 Completed 400');
    expect(first).toContain('href="/transactions?page=2"');
    const last = await show('/transactions?page=20');
    expect(rows(last, 'transactions').at(-1)).toBe('1001');
    expect(last).not.toContain('page=21');
    const found = await show('/transactions?q=ord-1&state=PENDING');
    expect(textOf(found)).toContain('All 111 Pending 22');
    expect(found).toContain('<input type="hidden" name="state" value="PENDING">');
    const [oldest] = rows(await show('/transactions?q=ORD-1&page=5'), 'transactions').slice(-1);
    expect(oldest).toBe('1001');
    const internal = /SBX-1001-\w+/.exec(last)?.[0] ?? '';
    expect(rows(await show(`/transactions?q=${internal}`), 'transactions')).toEqual(['1001']);
    expect(textOf(await show('/transactions?q=none'))).toContain('Nothing matches this search.');
  });
});

describe('deliveries', () => {
  test('have state, reference, outcome, status, attempts, milliseconds and age, and are filtered by state', async () => {
    const sandbox = stage.open({ retry: { max_attempts: 2, backoff_ms: 0 } });
    stage.merchant.answer = (response, { data }) => {
      response.statusCode = data.payload.merchant_reference === 'BAD' ? 500 : 200;
      response.end();
    };
    sandbox.collect({ ...collection, merchant_reference: 'GOOD' });
    sandbox.collect({ ...collection, merchant_reference: 'BAD' });
    await sandbox.idle();
    sandbox.collect({ ...collection, merchant_reference: 'LATER', misbehave: { late_ms: 60_000 } });
    const text = await show('/deliveries');
    expect(row(text, 'deliveries-1001')).toMatch(/^Delivered 1 GOOD .+ 200 1 of 2 \d+ ms /);
    expect(row(text, 'deliveries-1002')).toMatch(/^Failed 2 BAD .+ 500 2 of 2 \d+ ms /);
    expect(row(text, 'deliveries-1003')).toMatch(/^Waiting 3 LATER Goes out in \d+ s\. late – 0 of 2 – /);
    expect(textOf(text)).toContain('All 3 Needs attention 1 Failed 1 Waiting 1 Delivered 1');
    expect(rows(await show('/deliveries?state=failed'), 'deliveries')).toEqual(['1002']);
    expect(rows(await show('/deliveries?q=good'), 'deliveries')).toEqual(['1001']);
    // The way to it is the first link of every page.
    expect(textOf(part(await show('/wallets'), 'top', 'header'))).toContain('1 needs attention: delivery 2');
    expect(rows(await show('/'), 'failed')).toEqual(['1002']);
  });

  test('a refused forged signature, and a failure that a later delivery corrected, need no attention', async () => {
    const sandbox = stage.open({ retry: { max_attempts: 1 } });
    stage.merchant.answer = (response) => response.writeHead(401).end();
    sandbox.collect({ ...collection, misbehave: { bad_signature: true } });
    sandbox.collect({ ...collection, merchant_reference: 'ORD-2' });
    await sandbox.idle();
    expect(rows(await show('/'), 'failed')).toEqual(['1002']);
    stage.merchant.answer = (response) => response.end();
    await call(sandbox, 'POST', '/sandbox/deliveries/2/resend');
    await sandbox.idle();
    expect(rows(await show('/'), 'failed')).toEqual([]);
  });

  test('each attempt is shown as it was received: first line, headers in order, body', async () => {
    const sandbox = stage.open();
    sandbox.collect({ ...collection, customer_name: 'Zoë "Z" <script>' });
    await sandbox.idle();
    const [received] = stage.merchant.received;
    const text = await show('/deliveries/1');
    const attempt = part(text, 'main', 'main');
    expect(textOf(attempt)).toContain('POST /callbacks HTTP/1.1');
    for (const [name, value] of Object.entries(received?.headers ?? {})) {
      expect(textOf(attempt).toLowerCase()).toContain(`${name}: ${String(value).toLowerCase()}`);
    }
    expect(attempt).not.toContain('<script>');
    expect(textOf(attempt)).toContain('"customer_name": "Zoë \\"Z\\" <script>"');
    expect(textOf(attempt)).toContain('"status": "accepted"');
  });

  test('only the five fields are marked as signed, and t has unit and age', async () => {
    const sandbox = stage.open();
    sandbox.collect(collection);
    await sandbox.idle();
    const text = await show('/deliveries/1');
    const signed = [...text.matchAll(/<span class="signed"><span>.*?<span class="key">&quot;(\w+)&quot;/g)];
    expect(signed.map(([, name]) => name)).toEqual([
      'event',
      'merchant_reference',
      'internal_reference',
      'transaction_type',
      'transaction_status',
    ]);
    expect(text.match(/<small>signed<\/small>/g)).toHaveLength(5);
    expect(text).not.toContain('<small>not signed');
    const [, list = ''] = /<ol class="signature">(.*?)<\/ol>/s.exec(text) ?? [];
    expect([...list.matchAll(/<mark>(.*?)<\/mark>/g)].map(([, value]) => value).join(':')).toMatch(
      /^transaction\.completed:ORD-1:SBX-1001-\w{10}:COLLECTION:COMPLETED$/,
    );
    expect(textOf(text)).toMatch(
      /t \d{10} seconds, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC, (when it was sent|\d s before it was sent)/,
    );
    expect(textOf(text)).toContain(`The account's signing key, …${sandbox.account.signingKey.slice(-4)}`);
  });

  test('a copied test runs, a copied fixture verifies, and a copied curl command sends the same request', async () => {
    const sandbox = stage.open();
    sandbox.collect({ ...collection, customer_name: "O'Neill $HOME" });
    await sandbox.idle();
    const text = await show('/deliveries/1');
    const [received] = stage.merchant.received;

    const fixture = JSON.parse(copied(text, 'attempt-1-fixture'));
    expect(fixture).toMatchObject({ method: 'POST', url: stage.merchant.url, body: received?.body });
    expect(stage.verdict({ ...fixture, path: '', data: JSON.parse(fixture.body) })).toBe('ORD-1');

    // A shell splits the command; what would be run is printed instead.
    const printed = spawnSync(
      'sh',
      ['-c', copied(text, 'attempt-1-curl').replace('curl', "printf '%s\\n'")],
      { encoding: 'utf8' },
    );
    expect(printed.stdout.split('\n')).toEqual(
      expect.arrayContaining([
        stage.merchant.url,
        received?.body,
        `hmac-signature: ${received?.headers['hmac-signature']}`,
      ]),
    );

    const folder = mkdtempSync(join(tmpdir(), 'copied-'));
    const file = join(folder, 'copied.test.mjs');
    writeFileSync(file, copied(text, 'attempt-1-test'));
    const { NODE_OPTIONS: _, ...env } = process.env;
    const ended = await new Promise((resolve) => execFile(process.execPath, [file], { env }, resolve));
    rmSync(folder, { recursive: true });
    expect(ended).toBeNull();
    expect(stage.merchant.received).toHaveLength(2);
    expect(stage.merchant.received[1]?.body).toBe(received?.body);
  });
});

describe('a transaction', () => {
  test('is one story of start, decision, money, callback and attempt, with links both ways', async () => {
    const sandbox = stage.open();
    sandbox.collect({ ...collection, provider_code: 'example_card_ugx', amount: 10_000 });
    await sandbox.idle();
    const text = await show('/transactions/1001');
    const story = textOf(part(text, 'story', 'ol'));
    expect(story).toMatch(
      /Started .*Completed .*\+UGX 8,685 in the collection wallet, uncleared .*\+UGX 965 in the collection wallet, rolling reserve .*Callback scheduled: delivery \d+ .*Attempt 1 of delivery \d+ ?: HTTP 200, \d+ ms/,
    );
    const [, address = ''] = /href="(\/deliveries\/\d+)"/.exec(text) ?? [];
    expect(await show(address)).toContain('href="/transactions/1001"');
  });

  test('shows the redirect of the customer', async () => {
    const sandbox = stage.open();
    const { payment_page_url } = sandbox.collect({
      ...collection,
      redirect_url: 'http://127.0.0.1:3000/orders/1',
    });
    await sandbox.fetch(payment_page_url ?? '', {
      method: 'POST',
      body: new URLSearchParams({ choice: 'pay' }),
      redirect: 'manual',
    });
    const text = await show('/transactions/1001');
    expect(textOf(part(text, 'story', 'ol'))).toContain('Customer sent back to the shop HTTP 303');
    expect(text).toMatch(/href="http:\/\/127\.0\.0\.1:3000\/orders\/1\?event=transaction\.completed&amp;/);
  });
});

describe('requests', () => {
  test("the merchant's own calls are listed with the reason of each refusal, and masked keys", async () => {
    const sandbox = stage.open();
    await call(sandbox, 'GET', '/data/wallet-balances?currency=UGX');
    await call(sandbox, 'GET', '/data/payout-bank-codes');
    const text = await show('/requests');
    expect(textOf(text)).toContain('All 2 Refused 1 Answered 1');
    expect(rows(await show('/requests?state=refused'), 'requests')).toEqual(['2']);
    expect(row(text, 'requests-2')).toMatch(
      /^Refused GET \/data\/payout-bank-codes provider_code is required 400 \d+ ms /,
    );
    const detail = await show('/requests/1');
    expect(textOf(detail)).toContain(`secret-key: …${sandbox.account.secretKey.slice(-4)}`);
    expect(part(detail, 'main', 'main')).not.toContain(sandbox.account.secretKey);
    expect(textOf(detail)).toContain('"merchant_wallets"');
  });
});
