import { expect, test } from 'vitest';
import { call, collection, keysOf } from './support/api.ts';
import { createManualClock } from './support/manual-clock.ts';
import { open } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({ clock: createManualClock(Date.UTC(2026, 0, 2)) });
const requests = (query = '') => stage.list(`/sandbox/requests${query}`);
const timeline = (id: number) => stage.list(`/sandbox/transactions/${id}/timeline`);

test('a call of the merchant is recorded with time, path and query, headers, status and answer, and only the last four characters of keys', async () => {
  const headers = { ...keysOf(stage.sandbox), 'x-api-version': '1', 'user-agent': 'shop/1' };
  const path = '/data/wallet-balances?currency=UGX';
  const body = JSON.stringify((await call(stage.sandbox, 'GET', path, undefined, headers)).body);
  const { publicKey, secretKey, signingKey } = stage.sandbox.account;
  const shown = [
    ['public-key', `…${publicKey.slice(-4)}`],
    ['secret-key', `…${secretKey.slice(-4)}`],
    ['user-agent', 'shop/1'],
  ];
  const asked = { at: '2026-01-02T00:00:00.000Z', method: 'GET', path, ms: expect.any(Number) };
  const answered = { status: 200, refusal: null, body, bytes: body.length, is_cut: false };
  expect(await requests()).toMatchObject([{ ...asked, ...answered, headers: expect.arrayContaining(shown) }]);
  const log = JSON.stringify(await requests());
  for (const key of [publicKey, secretKey, signingKey]) expect(log).not.toContain(key);
});

test('a call of the merchant is recorded with the body that was sent, and the reason of a refusal', async () => {
  const sent = { ...collection, amount: 1 };
  await stage.call('POST', '/sandbox/collections', sent);
  await stage.call('GET', '/data/payout-bank-codes');
  await call(stage.sandbox, 'GET', '/data/payment-providers', undefined, { 'public-key': 'short' });
  await stage.call('GET', '/data/nothing');
  const wrongKey = 'The header public-key is not the public key of this sandbox account.';
  const tooSmall = 'Example Mobile Money accepts UGX\u00a0500 or more.';
  expect(await requests()).toMatchObject([
    { status: 404, refusal: 'There is nothing at /data/nothing.' },
    { status: 401, refusal: wrongKey, headers: [['public-key', '…']] },
    { status: 400, refusal: 'provider_code is required' },
    { status: 422, refusal: tooSmall, sent: JSON.stringify(sent) },
  ]);
});

const choose = async (address: string | null, choice: string) => {
  const body = new URLSearchParams({ choice });
  return (await stage.sandbox.fetch(address ?? '', { method: 'POST', body })).headers.get('location');
};

test('a transaction knows everything that happened to it: creation, decision, money, each delivery and attempt, the redirect', async () => {
  stage.answer(500);
  const { transaction, payment_page_url } = stage.collect({
    provider_code: 'example_card_ugx',
    amount: 10_000,
    redirect_url: 'http://127.0.0.1:3000/return',
    retry: { max_attempts: 2, backoff_ms: 0 },
    misbehave: { duplicate: 1 },
  });
  const location = await choose(payment_page_url, 'pay');
  await stage.sandbox.idle();
  await choose(payment_page_url, 'pay');
  stage.sandbox.advance(2 * 86_400);
  const line = await timeline(transaction.id);
  const [first, copy] = stage.sandbox.deliveries().map(({ id }) => id);
  const of = (what: string) => line.filter((event) => event['what'] === what);
  const at = '2026-01-02T00:00:00.000Z';
  expect(line[0]).toEqual({ at, what: 'created' });
  expect(of('decided')).toMatchObject([{ transaction_status: 'COMPLETED' }]);
  expect(of('delivery')).toMatchObject([
    { delivery_id: first, misbehaves: [] },
    { delivery_id: copy, misbehaves: ['duplicate 1'] },
  ]);
  expect(of('redirect')).toEqual(Array(2).fill({ at, what: 'redirect', location, status: 303 }));
  const entries = of('entry').map(({ entry }) => Object(entry));
  expect(entries.map(({ bucket, amount, cause, free_at }) => [bucket, amount, cause, free_at])).toEqual([
    ['uncleared', 8685, 'collection', '2026-01-04T00:00:00.000Z'],
    ['reserve', 965, 'collection', '2026-04-02T00:00:00.000Z'],
    ['uncleared', -8685, 'clearing', null],
    ['available', 8685, 'clearing', null],
  ]);
  expect((await stage.call('GET', '/sandbox/transactions/7/timeline')).status).toBe(404);
});

// Threat A56: a customer may choose what is part of a reference.
test('the statement lists decided transactions with exact amounts, and quotes a reference that a spreadsheet would read as a formula', () => {
  stage.collect({ misbehave: { lost: true } });
  stage.collect({ merchant_reference: 'ORD-2', outcome: 'failed' });
  stage.collect({ merchant_reference: 'ORD-3', mode: 'pending' });
  for (const merchant_reference of ['=1+1', '+1', '-1', '@A1', 'a,b', 'a"b'])
    stage.collect({ merchant_reference });
  const lines = stage.sandbox.statement().split('\r\n');
  expect(lines[0]).toBe('Date,Reference,Internal reference,Type,Status,Currency,Amount,Charge');
  expect(
    lines.slice(1, -1).map((line) => line.replace(/^\d{4}-.*?Z,/, '').replace(/SBX-\d+-\w+/, 'SBX')),
  ).toEqual([
    'ORD-1,SBX,COLLECTION,COMPLETED,UGX,500,15',
    'ORD-2,SBX,COLLECTION,FAILED,UGX,500,15',
    ...["'=1+1", "'+1", "'-1", "'@A1", '"a,b"', '"a""b"'].map(
      (shown) => `${shown},SBX,COLLECTION,COMPLETED,UGX,500,15`,
    ),
  ]);
});

test('the statement is downloaded from the API with both keys, and from the dashboard', async () => {
  const { sandbox } = stage;
  stage.collect();
  const signedIn = sandbox.fetch('http://127.0.0.1/sandbox/statement', { headers: keysOf(sandbox) });
  for (const response of [await signedIn, await sandbox.fetch('http://127.0.0.1/statement.csv')]) {
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toContain('attachment');
    expect(await response.text()).toBe(sandbox.statement());
  }
  expect((await open(sandbox, '/sandbox/statement')).status).toBe(401);
  expect((await stage.call('POST', '/sandbox/statement', {})).status).toBe(405);
  expect(await stage.show('/transactions')).toContain('href="/statement.csv"');
});
