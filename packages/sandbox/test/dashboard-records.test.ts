import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram } from './support/command.ts';
import { emptyFolder } from './support/folders.ts';
import { copied, part, row, rows, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const { show, read } = stage;
const listed = async (path: string) => rows(await show(path), path.replace(/^\/(\w+).*/, '$1'));

test('a list of 500 transactions has pages, the oldest is found by its reference, and a search keeps its filter', async () => {
  stage.open({ callbackUrl: undefined });
  for (let i = 1; i <= 500; i += 1)
    stage.collect({ merchant_reference: `ORD-${i}`, mode: i % 5 === 0 ? 'pending' : 'direct' });
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
  expect((await listed('/transactions?q=ORD-1&page=5')).at(-1)).toBe('1001');
  const internal = /SBX-1001-\w+/.exec(last)?.[0] ?? '';
  expect(await listed(`/transactions?q=${internal}`)).toEqual(['1001']);
  expect(await read('/transactions?q=none')).toContain('Nothing matches this search.');
});

describe('deliveries', () => {
  test('have state, reference, outcome, status, attempts, milliseconds and age, and are filtered by state', async () => {
    stage.open({ retry: { max_attempts: 2, backoff_ms: 0 } });
    await stage.deliver({ merchant_reference: 'GOOD' });
    stage.answer(500);
    await stage.deliver({ merchant_reference: 'BAD' });
    stage.collect({ merchant_reference: 'LATER', misbehave: { late_ms: 60_000 } });
    const text = await show('/deliveries');
    expect(row(text, 'deliveries-1001')).toMatch(/^Delivered 1 GOOD .+ 200 1 of 2 \d+ ms /);
    expect(row(text, 'deliveries-1002')).toMatch(/^Failed 2 BAD .+ 500 2 of 2 \d+ ms /);
    expect(row(text, 'deliveries-1003')).toMatch(/^Waiting 3 LATER Goes out in \d+ s\. late – 0 of 2 – /);
    expect(textOf(text)).toContain('All 3 Needs attention 1 Failed 1 Waiting 1 Delivered 1');
    expect(await listed('/deliveries?state=failed')).toEqual(['1002']);
    expect(await listed('/deliveries?q=good')).toEqual(['1001']);
    // Its link is the first one of every page.
    const top = part(await show('/wallets'), 'top', 'header');
    expect(textOf(top)).toContain('1 needs attention: delivery 2');
    expect(top).toContain('href="/deliveries/2"');
    expect(rows(await show('/'), 'failed')).toEqual(['1002']);
  });

  test('that misbehaved and were refused, and failures that a later delivery corrected, need no attention', async () => {
    stage.open({ retry: { max_attempts: 1 } });
    stage.answer(401);
    await stage.deliver({ misbehave: { bad_signature: true } });
    await stage.deliver({ merchant_reference: 'ORD-2' });
    expect(rows(await show('/'), 'failed')).toEqual(['1002']);
    stage.answer(200);
    await stage.call('POST', '/sandbox/deliveries/2/resend');
    await stage.sandbox.idle();
    expect(rows(await show('/'), 'failed')).toEqual([]);
  });

  test('mark only the five fields as signed, and t has unit and age', async () => {
    await stage.deliver();
    const text = await show('/deliveries/1');
    const signed = [...text.matchAll(/<span class="signed"><span>.*?<span class="key">&quot;(\w+)&quot;/g)];
    const references = ['merchant_reference', 'internal_reference'];
    const names = ['event', ...references, 'transaction_type', 'transaction_status'];
    expect(signed.map(([, name]) => name)).toEqual(names);
    expect(text.match(/<small>signed<\/small>/g)).toHaveLength(5);
    expect(text).not.toContain('<small>not signed');
    const [, list = ''] = /<ol class="signature">(.*?)<\/ol>/s.exec(text) ?? [];
    expect([...list.matchAll(/<mark>(.*?)<\/mark>/g)].map(([, value]) => value).join(':')).toMatch(
      /^transaction\.completed:ORD-1:SBX-1001-\w{10}:COLLECTION:COMPLETED$/,
    );
    expect(textOf(text)).toMatch(
      /t \d{10} seconds, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC, (when it was sent|\d s before it was sent)/,
    );
    const { signingKey } = stage.sandbox.account;
    expect(textOf(text)).toContain(`The account's signing key, …${signingKey.slice(-4)}`);
  });

  test('are copied as a fixture that verifies, and as a test that runs', async () => {
    await stage.deliver({ customer_name: "O'Neill $HOME" });
    const text = await show('/deliveries/1');
    const [received] = stage.merchant.received;
    const fixture = JSON.parse(copied(text, 'attempt-1-fixture'));
    expect(fixture).toMatchObject({ method: 'POST', url: stage.merchant.url, body: received?.body });
    expect(stage.verdict({ ...received, ...fixture })).toBe('ORD-1');

    const file = join(emptyFolder(), 'copied.test.mjs');
    writeFileSync(file, copied(text, 'attempt-1-test'));
    expect(await runProgram(process.execPath, [file])).toMatchObject({ code: 0 });
    expect(stage.merchant.received.map(({ body }) => body)).toEqual([received?.body, received?.body]);
  });
});

describe('a transaction', () => {
  const redirect_url = 'http://127.0.0.1:3000/orders/1';

  test('is one story of start, decision, money, callback, attempt and redirect, with links both ways', async () => {
    const card = { provider_code: 'example_card_ugx', amount: 10_000, redirect_url };
    const { payment_page_url } = stage.collect(card);
    const body = new URLSearchParams({ choice: 'pay' });
    await stage.sandbox.fetch(payment_page_url ?? '', { method: 'POST', body, redirect: 'manual' });
    const text = await show('/transactions/1001');
    expect(textOf(part(text, 'story', 'ol'))).toMatch(
      /Started .*Completed .*\+UGX 8,685 in the collection wallet, uncleared .*\+UGX 965 in the collection wallet, rolling reserve .*Callback scheduled: delivery \d+ .*Attempt 1 of delivery \d+ ?: HTTP 200, \d+ ms.* Customer sent back to the shop HTTP 303/,
    );
    expect(text).toMatch(/href="http:\/\/127\.0\.0\.1:3000\/orders\/1\?event=transaction\.completed&amp;/);
    expect(text).toContain('href="/compose/1001"');
    const [, address = ''] = /href="(\/deliveries\/\d+)"/.exec(text) ?? [];
    expect(await show(address)).toContain('href="/transactions/1001"');
  });

  test.each([
    ['completed', true],
    ['failed', false],
  ] as const)('that %s names a credit: %s', async (outcome, isNamed) => {
    stage.collect({ outcome });
    expect((await read('/transactions/1001')).includes('Credit')).toBe(isNamed);
  });
});
