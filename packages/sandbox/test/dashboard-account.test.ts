import { describe, expect, test } from 'vitest';
import { row, rows, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({ retry: { max_attempts: 1 } });
const { show, read, submit } = stage;

describe('wallets', () => {
  const wallet = async (): Promise<string> => row(await show('/wallets'), 'wallets-UGX-MERCHANT_COLLECTION');

  test('have a button for each part that is not available yet', async () => {
    stage.collect({ provider_code: 'example_card_ugx', amount: 10_000 });
    expect(await wallet()).toContain('UGX 0 UGX 8,685 UGX 965 UGX 9,650');
    await submit('clearing', { bucket: 'uncleared' });
    expect(await wallet()).toContain('UGX 8,685 UGX 0 UGX 965 UGX 9,650');
    await submit('clearing', { bucket: 'reserve' });
    expect(await wallet()).toContain('UGX 9,650 UGX 0 UGX 0 UGX 9,650');
  });

  test('accept deposits and transfers', async () => {
    expect((await submit('deposits', { currency: 'KES', amount: '12.5' })).status).toBe(303);
    await submit('transfers', { currency: 'KES', amount: '2.5' });
    const text = await show('/wallets');
    expect(row(text, 'wallets-KES-MERCHANT_COLLECTION')).toContain('KES 10');
    expect(row(text, 'wallets-KES-MERCHANT_PAYOUT')).toContain('KES 2.5');
    expect(rows(await show('/wallets/KES'), 'entries')).toHaveLength(3);
  });
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

test('the check is one button that leads to the grid, until a reset', async () => {
  expect(await show('/check')).toContain(`value="${stage.merchant.url}"`);
  const { location } = await submit('check', { callback_url: 'http://127.0.0.1:9/' }, '/check');
  expect(location).toBe('/check#report');
  const text = await show('/check');
  expect(row(text, 'cases-genuine')).toContain('Fail A genuine callback 2xx no answer: ECONNREFUSED');
  expect(textOf(text)).toContain('The first callback got no answer, so the remaining cases were skipped.');
  await submit('reset');
  expect(await show('/check')).not.toContain('ECONNREFUSED');
});
