import { beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../src/index.ts';
import { call, collection, keysOf, listOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
let sandbox: Sandbox;
beforeEach(() => {
  sandbox = stage.open({ clock: createManualClock(Date.UTC(2026, 0, 2)) });
});

const requests = async (query = '') =>
  listOf(await call(sandbox, 'GET', `/sandbox/requests${query}`), 'requests');

describe("the merchant's calls are recorded", () => {
  test('with time, path and query, headers, status and answer, and only the last four characters of keys', async () => {
    const { body } = await call(sandbox, 'GET', '/data/wallet-balances?currency=UGX', undefined, {
      ...keysOf(sandbox),
      'x-api-version': '1',
      'user-agent': 'shop/1',
    });
    const [one] = await requests();
    expect(one).toMatchObject({
      at: '2026-01-02T00:00:00.000Z',
      method: 'GET',
      path: '/data/wallet-balances?currency=UGX',
      status: 200,
      refusal: null,
      body: JSON.stringify(body),
      bytes: JSON.stringify(body).length,
      is_cut: false,
      ms: expect.any(Number),
    });
    const { publicKey, secretKey, signingKey } = sandbox.account;
    expect(Object(one)['headers']).toEqual(
      expect.arrayContaining([
        ['public-key', `…${publicKey.slice(-4)}`],
        ['secret-key', `…${secretKey.slice(-4)}`],
        ['user-agent', 'shop/1'],
      ]),
    );
    const log = JSON.stringify(await requests());
    for (const key of [publicKey, secretKey, signingKey]) expect(log).not.toContain(key);
  });

  test('with the body that was sent, and the reason of a refusal', async () => {
    await call(sandbox, 'POST', '/sandbox/collections', { ...collection, amount: 1 });
    await call(sandbox, 'GET', '/data/payout-bank-codes');
    await call(sandbox, 'GET', '/data/payment-providers', undefined, { 'public-key': 'short' });
    await call(sandbox, 'GET', '/data/nothing');
    const list = await requests();
    expect(list.map(({ status, refusal }) => [status, refusal])).toEqual([
      [404, 'There is nothing at /data/nothing.'],
      [401, 'The header public-key does not hold the public key of this sandbox account.'],
      [400, 'provider_code is required'],
      [422, 'Example Mobile Money accepts UGX\u00a0500 or more.'],
    ]);
    expect(list[1]?.['headers']).toEqual([['public-key', '…']]);
    expect(list[3]?.['sent']).toBe(JSON.stringify({ ...collection, amount: 1 }));
  });

  test('pages, the log itself and in-process calls are not recorded', async () => {
    const { payment_page_url } = sandbox.collect({ ...collection, mode: 'page' });
    for (const address of ['http://127.0.0.1/', payment_page_url ?? '']) await sandbox.fetch(address);
    await requests();
    expect(await requests()).toEqual([]);
  });

  test('the first 16 KiB of a long answer are kept', async () => {
    for (let number = 0; number < 30; number += 1) sandbox.collect(collection);
    const { body } = await call(sandbox, 'GET', '/sandbox/transactions');
    const [one] = await requests();
    expect(one).toMatchObject({ bytes: JSON.stringify(body).length, is_cut: true });
    expect(JSON.stringify(body).startsWith(String(one?.['body']))).toBe(true);
    expect(String(one?.['body'])).toHaveLength(16_384);
  });

  test('the newest 500 are kept', async () => {
    for (let number = 0; number < 510; number += 1) {
      await call(sandbox, 'GET', `/data/payment-providers?currency=${number}`);
    }
    const list = await requests('?limit=1000');
    expect(list).toHaveLength(500);
    expect(list.map(({ path }) => path).at(-1)).toBe('/data/payment-providers?currency=10');
  });

  test('they use no numbers of transactions', async () => {
    const first = sandbox.collect({ ...collection, mode: 'pending' });
    await call(sandbox, 'GET', '/data/wallet-balances');
    const second = sandbox.collect({ ...collection, mode: 'pending' });
    expect(second.transaction.id).toBe(first.transaction.id + 1);
  });
});

describe('a transaction knows everything that happened to it', () => {
  test('creation, decision, money, each delivery and attempt, the redirect', async () => {
    stage.merchant.answer = (response) => response.writeHead(500).end();
    const { transaction, payment_page_url } = sandbox.collect({
      ...collection,
      provider_code: 'example_card_ugx',
      amount: 10_000,
      redirect_url: 'http://127.0.0.1:3000/return',
      retry: { max_attempts: 2, backoff_ms: 0 },
      misbehave: { duplicate: 1 },
    });
    const pay = () =>
      sandbox.fetch(payment_page_url ?? '', {
        method: 'POST',
        body: new URLSearchParams({ choice: 'pay' }),
      });
    const location = (await pay()).headers.get('location');
    await sandbox.idle();
    await pay();
    await call(sandbox, 'POST', '/sandbox/clearing', { buckets: ['uncleared'] });
    const answer = await call(sandbox, 'GET', `/sandbox/transactions/${transaction.id}/timeline`);
    const line = listOf(answer, 'timeline');
    const [first, copy] = sandbox.deliveries().map(({ id }) => id);
    const of = (what: string) => line.filter((event) => event['what'] === what);
    expect(line[0]).toEqual({ at: '2026-01-02T00:00:00.000Z', what: 'created' });
    expect(of('decided')).toEqual([expect.objectContaining({ transaction_status: 'COMPLETED' })]);
    expect(of('delivery').map(({ delivery_id, misbehaves }) => [delivery_id, misbehaves])).toEqual([
      [first, []],
      [copy, ['duplicate 1']],
    ]);
    expect(of('attempt').map(({ delivery_id, number, status }) => [delivery_id, number, status])).toEqual([
      [first, 1, 500],
      [first, 2, 500],
      [copy, 1, 500],
      [copy, 2, 500],
    ]);
    expect(of('redirect')).toEqual(
      Array(2).fill({ at: '2026-01-02T00:00:00.000Z', what: 'redirect', location, status: 303 }),
    );
    const entries = of('entry').map(({ entry }) => Object(entry));
    expect(entries.map(({ bucket, amount, cause, free_at }) => [bucket, amount, cause, free_at])).toEqual([
      ['uncleared', 8685, 'collection', '2026-01-04T00:00:00.000Z'],
      ['reserve', 965, 'collection', '2026-04-02T00:00:00.000Z'],
      ['uncleared', -8685, 'clearing', null],
      ['available', 8685, 'clearing', null],
    ]);
    expect(new Set(entries.map(({ transaction_id }) => transaction_id))).toEqual(new Set([transaction.id]));
    expect((await call(sandbox, 'GET', '/sandbox/transactions/7/timeline')).status).toBe(404);
  });

  test('a customer who stays on the payment page is not sent anywhere', async () => {
    const { transaction, payment_page_url } = sandbox.collect({ ...collection, mode: 'page' });
    await sandbox.fetch(payment_page_url ?? '', {
      method: 'POST',
      body: new URLSearchParams({ choice: 'decline' }),
    });
    const answer = await call(sandbox, 'GET', `/sandbox/transactions/${transaction.id}/timeline`);
    expect(listOf(answer, 'timeline').map(({ what }) => what)).not.toContain('redirect');
  });
});
