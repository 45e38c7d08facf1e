import { describe, expect, test } from 'vitest';
import { part, problem, row, rows, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({ retry: { max_attempts: 1 } });
const { show, read, submit } = stage;

describe('wallets', () => {
  const wallet = async (): Promise<string> => row(await show('/wallets'), 'wallets-UGX-MERCHANT_COLLECTION');

  test('are a card for each currency, with what is not available yet and when it will be', async () => {
    stage.collect({ provider_code: 'example_card_ugx', amount: 10_000 });
    const text = await show('/wallets');
    expect(rows(text, 'wallets-UGX')).toEqual(['MERCHANT_COLLECTION', 'MERCHANT_PAYOUT']);
    const waiting = rows(text, 'waiting-UGX').map((id) => row(text, `waiting-UGX-${id}`));
    expect(waiting).toEqual([
      expect.stringMatching(/^UGX 8,685 uncleared in 2 d .* UTC Credit of a collection 1001$/),
      expect.stringMatching(/^UGX 965 rolling reserve in 90 d .* UTC Credit of a collection 1001$/),
    ]);
    expect(await show('/wallets/UGX')).toContain('<a href="/transactions/1001">Credit of a collection<');
    // Each button releases one part.
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

  test.each([
    ['transfers', '7', 'The MERCHANT_COLLECTION wallet has UGX 0 available'],
    ['deposits', '0.5', 'This must be exact, with at most 0 decimals in UGX.'],
  ])('show at the field why %s of UGX %s are refused', async (action, amount, words) => {
    const { text } = await submit(action, { currency: 'UGX', amount });
    expect(problem(text, `${action.slice(0, -1)}-UGX-amount`)).toContain(words);
    expect(text).toContain('<details id="move-UGX" open>');
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

  test('accept other limits, and explain what is wrong with invalid ones', async () => {
    const limits = { min_amount: '2', max_amount: '30', max_daily_amount: '400' };
    const save = (typed: object) => submit('limits', { provider: key, ...typed });
    expect((await save(limits)).status).toBe(303);
    expect(await option()).toMatchObject({ min_amount: 2, max_amount: 30, max_daily_amount: 400 });
    const wrong = await save({ ...limits, max_amount: '1' });
    expect(wrong.status).toBe(422);
    const words = 'The provider needs exact limits with min <= max <= daily.';
    expect(problem(wrong.text, `limits-${key}-max_amount`)).toBe(words);
    expect(wrong.text).toMatch(/name="max_amount"[^>]* value="1"/);
    expect(wrong.text).toContain(`<details id="limits-${key}-part" open>`);
    const empty = await save({});
    expect(problem(empty.text, `limits-${key}-min_amount`)).toBe('Enter an amount of zero or more.');
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
    const refused = await submit('api', { api_latency_ms: '-1' }, '/providers');
    expect(problem(refused.text, 'api-api_latency_ms')).toBe('Enter whole milliseconds, at most 60,000.');
    await submit('api');
    expect((await asked()).status).toBe(200);
    expect(await show('/wallets')).not.toContain('id="banners"');
  });
});

test('every control of misbehaviour and retries shows the current setting', async () => {
  const fields = { omit_fields: 'customer_name id', extra_fields: '{"note":1}' };
  const misbehave = { duplicate: '2', bad_signature: 'yes', t_unit: 'milliseconds', ...fields };
  await submit('misbehaviour', misbehave);
  await submit('defaults', { max_attempts: '7', backoff_ms: '10', resign: 'anew' });
  await submit('defaults', { max_attempts: '7' });
  expect((await stage.call('GET', '/sandbox/settings')).body.data).toMatchObject({
    misbehave: {
      duplicate: 2,
      bad_signature: true,
      t_unit: 'milliseconds',
      omit_fields: ['customer_name', 'id'],
      extra_fields: { note: 1 },
    },
    retry: { max_attempts: 7, backoff_ms: 10, resign: true },
  });
  const text = await show('/settings');
  expect(text).toContain('<details id="combine" open>');
  for (const shown of [
    /name="duplicate"[^>]* value="2"/,
    /name="bad_signature" value="yes" checked/,
    /<option value="milliseconds" selected>/,
    /name="omit_fields"[^>]* value="customer_name, id"/,
    /name="max_attempts"[^>]* value="7"/,
    /<option value="anew" selected>/,
  ])
    expect(text).toMatch(shown);
  expect(textOf(text)).toContain(
    'Callbacks misbehave: t in milliseconds, bad signature, sent 2 times more, without customer_name, id, with note.',
  );
  const refused = await submit('misbehaviour', { late_ms: '-1' });
  expect(problem(refused.text, 'misbehaviour-late_ms')).toBe('Enter whole milliseconds, at most 7 days.');
});

test('account, amount and bank follow the chosen provider; valid values are kept', async () => {
  const bank = await show('/start?at=payout&provider=example_bank+UGX&account=77&customer_name=Zo%C3%AB');
  expect(bank).toMatch(/id="payout-account"[^>]* value="77"/);
  expect(bank).toMatch(/id="payout-amount"[^>]* value="5000"/);
  expect(bank).toMatch(/id="payout-customer_name"[^>]* value="Zoë"/);
  expect(bank).toMatch(/id="payout-bank_code".*EX001.*Closed Bank · off/s);
  const mobile = await show('/start?at=payout&provider=savanna_mobile_money+KES&account=77&customer_name=');
  expect(mobile).toMatch(/id="payout-account"[^>]* value="254702000001"/);
  expect(mobile).toMatch(/id="payout-customer_name"[^>]* value=""/);
  const hint = 'Starts with 25470 or 25471 or 25472. Amount in KES KES 10 to KES 150,000.';
  expect(textOf(mobile)).toContain(hint);
  expect(mobile).not.toContain('payout-bank_code');
});

describe('check', () => {
  test('is one button that leads to the grid, and a refused address is shown at the field', async () => {
    expect(await show('/check')).toContain(`value="${stage.merchant.url}"`);
    const { location } = await submit('check', { callback_url: 'http://127.0.0.1:9/' }, '/check');
    expect(location).toBe('/check#report');
    const text = await show('/check');
    expect(row(text, 'cases-genuine')).toContain('Fail A genuine callback 2xx no answer: ECONNREFUSED');
    expect(textOf(text)).toContain('The first callback got no answer, so the remaining cases were skipped.');
    const refused = await submit('check', { callback_url: 'http://elsewhere.example/' });
    expect(problem(refused.text, 'check-callback_url')).toContain('This must be on this computer');
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

const types = { json: 'application/json', html: 'text/html; charset=utf-8' };

test.each([
  ['Delivered', 200, 'json', {}, 'The callback was accepted.'],
  ['Failed', 401, '{"error":"unauthorized"}', {}, 'paymentCallbacks() refused a valid signature.'],
  ['Correctly refused', 401, 'json', { bad_signature: true }, 'The bad signature was refused, as expected.'],
  ['Wrong answer', 200, 'json', { bad_signature: true }, 'A bad signature was ACCEPTED'],
  ['Delivered', 200, 'json', { forged_amount: 1 }, 'Make sure that nothing was credited'],
  ['Delivered', 200, 'json', { t_offset_seconds: -10 }, 't was changed.'],
  ['Wrong answer', 200, 'html', {}, 'The response is a web page, not that of a callback route.'],
] as const)(
  'a delivery is %s after %i with %s if it misbehaves like %j, and its page and its row say: %s',
  async (state, status, content, misbehave, words) => {
    stage.merchant.answer = (response) => {
      const type = content === 'html' ? types.html : types.json;
      const body = { html: '<!doctype html><h1>Shop</h1>', json: '{}' };
      response.writeHead(status, { 'content-type': type });
      response.end(content === 'html' || content === 'json' ? body[content] : content);
    };
    await stage.deliver({ misbehave });
    const detail = await stage.read('/deliveries/1');
    expect(detail).toContain(words);
    expect(detail).toContain(`Delivery 1 ${state}`);
    expect(row(await stage.show('/deliveries'), 'deliveries-1001').startsWith(`${state} 1 `)).toBe(true);
  },
);
