import { beforeEach, describe, expect, test } from 'vitest';
import { collectionForm, row, rows } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const { show, read, submit } = stage;

test('a form that is sent without an account, uses one that the provider serves, and the first active bank', async () => {
  const { account: _, ...rest } = { ...collectionForm, amount: '100000' };
  const kenyan = await submit('collections', { ...rest, provider: 'savanna_mobile_money KES' });
  await submit('collections', rest);
  await submit('transfers', { currency: 'UGX', amount: '20000' });
  const paid = await submit('payouts', { ...rest, provider: 'example_bank UGX', amount: '5000' });
  expect([kenyan.status, paid.status]).toEqual([303, 303]);
  expect(row(await show('/wallets'), 'wallets-UGX-MERCHANT_PAYOUT')).toContain('UGX 15,000');
});

test('a form that is sent returns to the page and the place that it was sent from, and to no other site', async () => {
  stage.collect({ misbehave: { late_ms: 60_000 } });
  const at = async (from: string, place: string) => (await submit('release', { at: place }, from)).location;
  const filtered = '/deliveries?state=waiting&page=2';
  expect(await at(filtered, 'deliveries-1001')).toBe(`${filtered}#deliveries-1001`);
  expect(await at('/deliveries', '"><script>')).toBe('/deliveries');
  const foreign = await stage.sandbox.fetch('http://127.0.0.1/dashboard/release', {
    method: 'POST',
    headers: { referer: 'http://elsewhere.example/x' },
    redirect: 'manual',
  });
  expect(foreign.headers.get('location')).toBe('/');
});

describe('a composition', () => {
  beforeEach(() => {
    stage.open({ retry: { max_attempts: 1 } });
    return stage.deliver();
  });

  test('is sent as shown, with copies, and leads to the delivery', async () => {
    const fields = { extra_fields: '{"note":"hello"}', omit_fields: 'customer_name, id' };
    const typed = { duplicate: '1', retry: 'none', ...fields };
    const { status, location } = await submit('compose/1001', typed, '/compose/1001');
    expect([status, location, stage.sandbox.deliveries().length]).toEqual([303, '/deliveries/2', 3]);
    await stage.sandbox.idle();
    const { note, customer_name, id } = JSON.parse(stage.merchant.received[1]?.body ?? '').payload;
    expect([note, customer_name, id]).toEqual(['hello', undefined, undefined]);
    const text = await stage.read('/deliveries/2');
    expect(text).toContain('What differs from the genuine callback');
    expect(text).toContain('+ "note": "hello" added');
  });

  test('with an edited body is sent as typed, with its line breaks', async () => {
    await submit('compose/1', { body: 'not\r\nJSON', signature: 'keep' });
    const second = stage.sandbox.deliveries()[1];
    expect(second?.body).toBe('not\nJSON');
    const { location } = await submit(`compose/${second?.id}`, { body: 'other' });
    expect(await stage.read(location ?? '')).toContain(
      `What differs from delivery ${second?.id} - not was - JSON was + other added`,
    );
  });
});

const wallet = async (): Promise<string> => row(await show('/wallets'), 'wallets-UGX-MERCHANT_COLLECTION');

test('money that is not available yet becomes so when the clock is moved', async () => {
  stage.collect({ provider_code: 'example_card_ugx', amount: 10_000 });
  expect(await wallet()).toContain('UGX 0 UGX 8,685 UGX 965 UGX 9,650');
  await submit('clock', { advance_seconds: String(2 * 86_400) });
  expect(await wallet()).toContain('UGX 8,685 UGX 0 UGX 965 UGX 9,650');
  await submit('clock', { advance_seconds: String(88 * 86_400) });
  expect(await wallet()).toContain('UGX 9,650 UGX 0 UGX 0 UGX 9,650');
});

test('wallets accept deposits and transfers', async () => {
  expect((await submit('deposits', { currency: 'KES', amount: '12.5' })).status).toBe(303);
  await submit('transfers', { currency: 'KES', amount: '2.5' });
  const text = await show('/wallets');
  expect(row(text, 'wallets-KES-MERCHANT_COLLECTION')).toContain('KES 10');
  expect(row(text, 'wallets-KES-MERCHANT_PAYOUT')).toContain('KES 2.5');
  expect(rows(await show('/wallets/KES'), 'entries')).toHaveLength(3);
});

test('the API is slow or fails as set, shows that on every page, and keeps the setting', async () => {
  const asked = () => stage.call('GET', '/data/wallet-balances');
  expect((await submit('api', { api_latency_ms: '40', api_error: '503' })).status).toBe(303);
  const message = 'The settings of the sandbox ask for this error.';
  expect((await asked()).body).toEqual({ code: 503, status: 'error', message, data: {} });
  const [request] = await stage.list('/sandbox/requests');
  expect(request).toMatchObject({ status: 503 });
  expect(Number(request?.['ms'])).toBeGreaterThanOrEqual(39);
  expect(await read('/wallets')).toContain('The API answers 40 ms late, with HTTP 503. Answer normally');
  await submit('api');
  expect((await asked()).status).toBe(200);
  expect(await show('/wallets')).not.toContain('id="banners"');
});
