import { describe, expect, test } from 'vitest';
import { part, row, rows, textOf } from './support/pages.ts';
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

  test('accept deposits and transfers, and clear one currency only', async () => {
    expect((await submit('deposits', { currency: 'KES', amount: '12.5' })).status).toBe(303);
    await submit('transfers', { currency: 'KES', amount: '2.5' });
    const text = await show('/wallets');
    expect(row(text, 'wallets-KES-MERCHANT_COLLECTION')).toContain('KES 10');
    expect(row(text, 'wallets-KES-MERCHANT_PAYOUT')).toContain('KES 2.5');
    expect(rows(await show('/wallets/KES'), 'entries')).toHaveLength(3);
    for (const currency of ['UGX', 'USD'])
      stage.collect({ provider_code: `example_card_${currency.toLowerCase()}`, currency, amount: 2000 });
    await submit('clearing', { bucket: 'uncleared USD' });
    expect(rows(await show('/wallets/UGX'), 'waiting')).toHaveLength(2);
    expect(rows(await show('/wallets/USD'), 'waiting')).toHaveLength(1);
  });
});

describe('providers', () => {
  const key = 'example_mobile_money-UGX-payout';
  const option = async () => (await stage.list('/data/payment-providers?transaction_type=PAYOUT'))[0];
  const card = async () => part(await show('/providers'), `provider-${key}`, 'article');

  test('are switched off and on, with immediate effect in /data and on the page', async () => {
    for (const [press, state, is_active] of [
      ['off', 'Off', false],
      ['on', 'Active', true],
    ] as const) {
      expect(await card()).toContain(`name="${press}" value="${key}"`);
      const { location } = await submit('providers', { [press]: key, at: `provider-${key}` }, '/providers');
      expect(location).toBe(`/providers#provider-${key}`);
      expect(await option()).toMatchObject({ provider_code: 'example_mobile_money', is_active });
      expect(textOf(await card())).toContain(state);
    }
  });

  test('accept other limits', async () => {
    const limits = { min_amount: 2, max_amount: 30, max_daily_amount: 400 };
    const typed = Object.entries(limits).map(([name, value]) => [name, String(value)]);
    await submit('limits', { provider: key, ...Object.fromEntries(typed) });
    expect(await option()).toMatchObject(limits);
  });

  test('list their banks, which can be switched off as well', async () => {
    await submit('banks', { on: 'example_bank EX003' });
    const banks = await stage.list('/data/payout-bank-codes?provider_code=example_bank');
    expect(banks.map(({ is_active }) => is_active)).toEqual([true, true, true]);
    expect((await submit('banks', { off: 'example_bank nothing' })).status).toBe(404);
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
});

test('every control of misbehaviour and retries is kept, and the rules that a form does not name stay', async () => {
  const fields = { omit_fields: 'customer_name id', extra_fields: '{"note":1}' };
  await submit('misbehaviour', { duplicate: '2', bad_signature: 'yes', t_unit: 'milliseconds', ...fields });
  await submit('defaults', { max_attempts: '7', backoff_ms: '10', resign: 'anew' });
  await submit('defaults', { max_attempts: '7' });
  const lists = { omit_fields: ['customer_name', 'id'], extra_fields: { note: 1 } };
  expect((await stage.call('GET', '/sandbox/settings')).body.data).toMatchObject({
    misbehave: { duplicate: 2, bad_signature: true, t_unit: 'milliseconds', ...lists },
    retry: { max_attempts: 7, backoff_ms: 10, resign: true },
  });
});

describe('check', () => {
  test('is one button that leads to the grid, until a reset', async () => {
    expect(await show('/check')).toContain(`value="${stage.merchant.url}"`);
    const { location } = await submit('check', { callback_url: 'http://127.0.0.1:9/' }, '/check');
    expect(location).toBe('/check#report');
    const text = await show('/check');
    expect(row(text, 'cases-genuine')).toContain('Fail A genuine callback 2xx no answer: ECONNREFUSED');
    expect(textOf(text)).toContain('The first callback got no answer, so the remaining cases were skipped.');
    await submit('reset');
    expect(await show('/check')).not.toContain('ECONNREFUSED');
  });

  test('shows its progress, and then what answers cannot prove, even if all are right', async () => {
    const seen: string[] = [];
    stage.merchant.answer = async (response) => {
      seen.push(await read('/check'));
      response.end();
    };
    await submit('check', { callback_url: stage.merchant.url });
    expect(seen[0]).toContain('The answers will be here');
    expect(seen[7]).toContain('7 of 22 cases posted so far.');
    const text = await read('/check');
    expect(text).toMatch(/\d+ of 22 cases failed\. \d+ as expected, \d+ warnings?, \d+ failed\./);
    expect(text).toContain('answers 200 to a repetition or to another amount, and credits it, passes');
  });
});

test('what was given up is sent again once, as far back as asked', async () => {
  expect(await show('/deliveries')).not.toContain('resend-failed');
  stage.answer(500);
  await stage.deliver();
  await stage.deliver();
  stage.sandbox.advance(7200);
  expect(await read('/deliveries')).toContain('2 deliveries were given up and not sent again yet.');
  await submit('deliveries/resend-failed', { since: '3600' });
  expect(stage.sandbox.deliveries()).toHaveLength(2);
  stage.answer(200);
  const { location } = await submit('deliveries/resend-failed', { since: 'all' }, '/deliveries');
  expect([location, stage.sandbox.deliveries().length]).toEqual(['/deliveries', 4]);
  await stage.sandbox.idle();
  expect(await show('/deliveries')).not.toContain('resend-failed');
});
