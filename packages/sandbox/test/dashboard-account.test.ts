import { beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../src/index.ts';
import { call, collection, listOf } from './support/api.ts';
import { open, row, rows, submit, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
let sandbox: Sandbox;
beforeEach(() => {
  sandbox = stage.open({ retry: { max_attempts: 1 } });
});

const { show } = stage;
const part = (text: string, id: string): string =>
  textOf(new RegExp(`id="${id}".*?</(section|article|form|div)>`, 's').exec(text)?.[0] ?? '');
const problem = (text: string, id: string): string =>
  textOf(new RegExp(`<p class="problem small" id="${id}-problem">.*?</p>`).exec(text)?.[0] ?? '');

describe('compose', () => {
  beforeEach(async () => {
    sandbox.collect(collection);
    await sandbox.idle();
  });
  const delivery = (): number => sandbox.deliveries()[0]?.id ?? 0;

  test('is linked from every transaction and delivery', async () => {
    expect(await show('/transactions/1001')).toContain('href="/compose/1001"');
    expect(await show(`/deliveries/${delivery()}`)).toContain(`href="/compose/${delivery()}"`);
  });

  test('shows the body, the difference, the signed string and whether it will verify, and sends nothing', async () => {
    const unchanged = textOf(await show('/compose/1001'));
    expect(unchanged).toContain('Changes of the body No difference.');
    const text = await show('/compose/1001?forged_amount=1&status=REVERSED&t_offset_seconds=-3600');
    expect(textOf(text)).toContain('The signature will verify');
    expect(textOf(text)).toContain('1 h before it was sent');
    const marks = [...text.matchAll(/<(del|ins)>(.*?)<\/\1>/g)].map(([, , line]) => textOf(line ?? ''));
    expect(marks).toEqual([
      '- "request_amount": 500,',
      '+ "request_amount": 1,',
      '- "transaction_amount": 500,',
      '+ "transaction_amount": 1,',
      '- "total_credit": 485,',
      '+ "total_credit": -14,',
      '- "transaction_status": "COMPLETED",',
      '+ "transaction_status": "REVERSED",',
    ]);
    expect(sandbox.deliveries()).toHaveLength(1);
  });

  test('with the signature kept, says that it will be refused and why', async () => {
    const text = textOf(await show(`/compose/${delivery()}?status=FAILED&signature=keep`));
    expect(text).toContain('The signature will be refused');
    expect(text).toContain('No signing key makes this signature.');
    expect(textOf(await show('/compose/1001?bad_signature=yes'))).toContain('Another key, on purpose');
  });

  test('presets are kept, and combine with each other and with typed values', async () => {
    const text = await show(
      '/compose/1001?forged_amount=&event=transaction.reviewed&late_ms=5&preset=forged_first',
    );
    expect(text).toMatch(/name="forged_amount"[^>]* value="1"/);
    expect(text).toMatch(/name="duplicate"[^>]* value="1"/);
    expect(text).toMatch(/name="late_ms"[^>]* value="5"/);
    expect(text).toMatch(/name="event"[^>]* value="transaction.reviewed"/);
    const edited = await show('/compose/1001?preset=edit_body');
    const opened = (html: string): (string | undefined)[] =>
      [...html.matchAll(/id="group-(\w+)" open/g)].map(([, group]) => group);
    // Groups with a change are open.
    expect(opened(text)).toEqual(['money', 'time', 'fields']);
    expect(opened(edited)).toEqual(['body']);
    expect(opened(await show('/compose/1001'))).toEqual([]);
    expect(edited).toMatch(/<textarea id="compose-body"[^>]*>\n\{\n {2}&quot;event&quot;/);
  });

  test('sends what it shows, with copies, and leads to the delivery', async () => {
    const { status, location } = await submit(
      sandbox,
      'compose/1001',
      { duplicate: '1', extra_fields: '{"note":"hello"}', omit_fields: 'customer_name, id', retry: 'none' },
      '/compose/1001',
    );
    const [first, ...copies] = sandbox.deliveries().slice(1);
    expect([status, location, copies.length]).toEqual([303, `/deliveries/${first?.id}`, 1]);
    await sandbox.idle();
    const { payload } = JSON.parse(stage.merchant.received[1]?.body ?? '');
    expect([payload.note, payload.customer_name, payload.id]).toEqual(['hello', undefined, undefined]);
    const text = await show(`/deliveries/${first?.id}`);
    expect(textOf(text)).toContain('What differs from the genuine callback');
    expect(textOf(text)).toContain('+ "note": "hello" added');
  });

  test('a preset that is selected and not added yet is sent as well', async () => {
    await submit(sandbox, 'compose/1001', { preset: 'forged_amount', status: 'REVERSED' });
    await sandbox.idle();
    expect(stage.merchant.received[1]?.data.payload).toMatchObject({
      transaction_amount: 1,
      transaction_status: 'REVERSED',
    });
  });

  test('an edited body is sent as typed, with its line breaks', async () => {
    await submit(sandbox, `compose/${delivery()}`, { body: 'not\r\nJSON', signature: 'keep' });
    await expect.poll(() => sandbox.deliveries()[1]?.body).toBe('not\nJSON');
    await submit(sandbox, `compose/${sandbox.deliveries()[1]?.id}`, { body: 'other' });
    expect(textOf(await show(`/deliveries/${sandbox.deliveries()[2]?.id}`))).toContain(
      `What differs from delivery ${sandbox.deliveries()[1]?.id} - not was - JSON was + other added`,
    );
  });

  test.each([
    [{ duplicate: '99' }, 'duplicate', 'Enter a whole number from 0 to 10.'],
    [{ extra_fields: 'note' }, 'extra_fields', 'This must be a JSON object, such as {"note": "hello"}.'],
    [{ forged_amount: '1.5' }, 'forged_amount', 'This must be exact, with at most 0 decimals in UGX.'],
    [{ callback_url: 'http://elsewhere.example/' }, 'callback_url', 'This must be on this computer'],
    [{ forged_currency: 'usd' }, 'forged_currency', 'Enter three capital letters, such as USD.'],
  ])(
    'refused with %o, keeps it and says what is wrong at the field, shown or sent',
    async (typed, field, words) => {
      const sent = await submit(sandbox, 'compose/1001', typed);
      const asked = await open(sandbox, `/compose/1001?${new URLSearchParams(typed)}`);
      for (const { status, text } of [sent, asked]) {
        expect([400, 422]).toContain(status);
        expect(problem(text, `compose-${field}`)).toContain(words);
        expect(text).toContain(Object.values(typed)[0]?.replaceAll('"', '&quot;'));
      }
      expect(sandbox.deliveries()).toHaveLength(1);
    },
  );

  test('markup in a body is escaped', async () => {
    const text = await show(
      `/compose/1001?${new URLSearchParams({ body: '</textarea><script>1</script>' })}`,
    );
    expect(text).not.toContain('<script>1');
  });
});

describe('sending again all failed', () => {
  test('sends once what was given up after a given time', async () => {
    expect(await show('/deliveries')).not.toContain('resend-failed');
    stage.merchant.answer = (response) => response.writeHead(500).end();
    sandbox.collect(collection);
    sandbox.collect(collection);
    await sandbox.idle();
    sandbox.advance(7200);
    expect(textOf(await show('/deliveries'))).toContain('2 deliveries were given up and not sent again yet.');
    await submit(sandbox, 'deliveries/resend-failed', { since: '3600' });
    expect(sandbox.deliveries()).toHaveLength(2);
    stage.merchant.answer = (response) => response.end();
    const { location } = await submit(sandbox, 'deliveries/resend-failed', { since: 'all' }, '/deliveries');
    expect([location, sandbox.deliveries().length]).toEqual(['/deliveries', 4]);
    await sandbox.idle();
    expect(await show('/deliveries')).not.toContain('resend-failed');
  });
});

describe('wallets', () => {
  test('are a card for each currency, with what is not available yet and when it will be', async () => {
    sandbox.collect({ ...collection, provider_code: 'example_card_ugx', amount: 10_000 });
    const text = await show('/wallets');
    expect(rows(text, 'wallets-UGX')).toEqual(['MERCHANT_COLLECTION', 'MERCHANT_PAYOUT']);
    expect(row(text, 'wallets-UGX-MERCHANT_COLLECTION')).toContain('UGX 0 UGX 8,685 UGX 965 UGX 9,650');
    const waiting = rows(text, 'waiting-UGX').map((id) => row(text, `waiting-UGX-${id}`));
    expect(waiting).toEqual([
      expect.stringMatching(/^UGX 8,685 uncleared in 2 d .* UTC Credit of a collection 1001$/),
      expect.stringMatching(/^UGX 965 rolling reserve in 90 d .* UTC Credit of a collection 1001$/),
    ]);
    expect(await show('/wallets/UGX')).toContain('<a href="/transactions/1001">Credit of a collection<');
  });

  test('accept deposits and transfers, and clear one currency only', async () => {
    expect((await submit(sandbox, 'deposits', { currency: 'KES', amount: '12.5' })).status).toBe(303);
    await submit(sandbox, 'transfers', { currency: 'KES', amount: '2.5' });
    const text = await show('/wallets');
    expect(row(text, 'wallets-KES-MERCHANT_COLLECTION')).toContain('KES 10');
    expect(row(text, 'wallets-KES-MERCHANT_PAYOUT')).toContain('KES 2.5');
    expect(rows(await show('/wallets/KES'), 'entries')).toHaveLength(3);
    for (const [provider_code, currency] of [
      ['example_card_ugx', 'UGX'],
      ['example_card_usd', 'USD'],
    ] as const) {
      sandbox.collect({ ...collection, provider_code, currency, amount: 2000 });
    }
    await submit(sandbox, 'clearing', { bucket: 'uncleared USD' });
    expect(rows(await show('/wallets/UGX'), 'waiting')).toHaveLength(2);
    expect(rows(await show('/wallets/USD'), 'waiting')).toHaveLength(1);
  });

  test('a refused deposit or transfer shows the reason at its field', async () => {
    const transfer = await submit(sandbox, 'transfers', { currency: 'UGX', amount: '7' });
    expect(problem(transfer.text, 'transfer-UGX-amount')).toContain(
      'The MERCHANT_COLLECTION wallet has UGX 0 available',
    );
    expect(transfer.text).toContain('<details id="move-UGX" open>');
    const deposit = await submit(sandbox, 'deposits', { currency: 'UGX', amount: '0.5' });
    expect(problem(deposit.text, 'deposit-UGX-amount')).toBe(
      'This must be exact, with at most 0 decimals in UGX.',
    );
  });
});

describe('providers', () => {
  const options = async (): Promise<Record<string, unknown>[]> =>
    listOf(
      await call(sandbox, 'GET', '/data/payment-providers?transaction_type=PAYOUT'),
      'payment_providers',
    );

  test('are switched off and on, with immediate effect in /data and on the page', async () => {
    const key = 'example_mobile_money-UGX-payout';
    expect(part(await show('/providers'), `provider-${key}`)).toContain('Active');
    const { location } = await submit(
      sandbox,
      'providers',
      { off: key, at: `provider-${key}` },
      '/providers',
    );
    expect(location).toBe(`/providers#provider-${key}`);
    expect((await options())[0]).toMatchObject({ provider_code: 'example_mobile_money', is_active: false });
    expect(part(await show('/providers'), `provider-${key}`)).toContain('Off');
    await submit(sandbox, 'providers', { on: key });
    expect((await options())[0]).toMatchObject({ is_active: true });
  });

  test('accept other limits, and explain what is wrong with invalid ones', async () => {
    const limits = {
      provider: 'example_mobile_money-UGX-payout',
      min_amount: '2',
      max_amount: '30',
      max_daily_amount: '400',
    };
    expect((await submit(sandbox, 'limits', limits)).status).toBe(303);
    expect((await options())[0]).toMatchObject({ min_amount: 2, max_amount: 30, max_daily_amount: 400 });
    const wrong = await submit(sandbox, 'limits', { ...limits, max_amount: '1' });
    expect([wrong.status, problem(wrong.text, 'limits-example_mobile_money-UGX-payout-max_amount')]).toEqual([
      422,
      'The provider needs exact limits with min <= max <= daily.',
    ]);
    expect(wrong.text).toMatch(/name="max_amount"[^>]* value="1"/);
    const empty = await submit(sandbox, 'limits', { provider: limits.provider });
    expect(problem(empty.text, 'limits-example_mobile_money-UGX-payout-min_amount')).toBe(
      'Enter an amount of zero or more.',
    );
  });

  test('the API is slow or fails as set, shows that on every page, and keeps the setting', async () => {
    const asked = (): ReturnType<typeof call> => call(sandbox, 'GET', '/data/wallet-balances');
    expect((await submit(sandbox, 'api', { api_latency_ms: '40', api_error: '503' })).status).toBe(303);
    const { status, body } = await asked();
    expect([status, body]).toEqual([
      503,
      { code: 503, status: 'error', message: 'The settings of the sandbox ask for this error.', data: {} },
    ]);
    const [request] = listOf(await call(sandbox, 'GET', '/sandbox/requests'), 'requests');
    expect(request).toMatchObject({ status: 503 });
    expect(Number(request?.['ms'])).toBeGreaterThanOrEqual(39);
    expect(textOf(await show('/wallets'))).toContain(
      'The API answers 40 ms late, with HTTP 503. Answer normally',
    );
    const refused = await submit(sandbox, 'api', { api_latency_ms: '-1' }, '/providers');
    expect(problem(refused.text, 'api-api_latency_ms')).toBe('Enter whole milliseconds, at most 60,000.');
    await submit(sandbox, 'api');
    expect((await asked()).status).toBe(200);
    expect(await show('/wallets')).not.toContain('id="banners"');
  });

  test('list their banks, which can be switched off as well', async () => {
    await submit(sandbox, 'banks', { on: 'example_bank EX003' });
    const banks = listOf(
      await call(sandbox, 'GET', '/data/payout-bank-codes?provider_code=example_bank'),
      'payout_banks',
    );
    expect(banks.map(({ is_active }) => is_active)).toEqual([true, true, true]);
    expect((await submit(sandbox, 'banks', { off: 'example_bank nothing' })).status).toBe(404);
  });
});

describe('settings', () => {
  test('every control of misbehaviour and retries shows the current setting', async () => {
    await submit(sandbox, 'misbehaviour', {
      duplicate: '2',
      bad_signature: 'yes',
      t_unit: 'milliseconds',
      omit_fields: 'customer_name id',
      extra_fields: '{"note":1}',
    });
    await submit(sandbox, 'defaults', { max_attempts: '7', backoff_ms: '10', resign: 'anew' });
    const { body } = await call(sandbox, 'GET', '/sandbox/settings');
    expect(body.data).toMatchObject({
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
    ]) {
      expect(text).toMatch(shown);
    }
    expect(textOf(text)).toContain(
      'Callbacks misbehave: t in milliseconds, bad signature, sent 2 times more, without customer_name, id, with note.',
    );
    const refused = await submit(sandbox, 'misbehaviour', { late_ms: '-1' });
    expect(problem(refused.text, 'misbehaviour-late_ms')).toBe('Enter whole milliseconds, at most 7 days.');
  });
});

describe('start', () => {
  test('account, amount and bank follow the chosen provider; valid values are kept', async () => {
    const bank = await show('/start?at=payout&provider=example_bank+UGX&account=77&customer_name=Zo%C3%AB');
    expect(bank).toMatch(/id="payout-account"[^>]* value="77"/);
    expect(bank).toMatch(/id="payout-amount"[^>]* value="5000"/);
    expect(bank).toMatch(/id="payout-customer_name"[^>]* value="Zoë"/);
    expect(bank).toMatch(/id="payout-bank_code".*EX001.*Closed Bank · off/s);
    const mobile = await show('/start?at=payout&provider=savanna_mobile_money+KES&account=77&customer_name=');
    expect(mobile).toMatch(/id="payout-account"[^>]* value="254702000001"/);
    expect(mobile).toMatch(/id="payout-customer_name"[^>]* value=""/);
    expect(textOf(mobile)).toContain(
      'Starts with 25470 or 25471 or 25472. Amount in KES KES 10 to KES 150,000.',
    );
    expect(mobile).not.toContain('payout-bank_code');
  });
});

describe('check', () => {
  test('is one button that leads to the grid, and a refused address is shown at the field', async () => {
    expect(await show('/check')).toContain(`value="${stage.merchant.url}"`);
    const { location } = await submit(sandbox, 'check', { callback_url: 'http://127.0.0.1:9/' }, '/check');
    expect(location).toBe('/check#report');
    const text = await show('/check');
    expect(row(text, 'cases-genuine')).toContain('Fail A genuine callback 2xx no answer: ECONNREFUSED');
    expect(textOf(text)).toContain('The first callback got no answer, so the remaining cases were skipped.');
    const refused = await submit(sandbox, 'check', { callback_url: 'http://elsewhere.example/' });
    expect(problem(refused.text, 'check-callback_url')).toContain('This must be on this computer');
    await submit(sandbox, 'reset');
    expect(await show('/check')).not.toContain('ECONNREFUSED');
  });

  test('shows its progress, and then what answers cannot prove, even if all are right', async () => {
    const seen: string[] = [];
    stage.merchant.answer = async (response) => {
      seen.push(textOf(await show('/check')));
      response.end();
    };
    await submit(sandbox, 'check', { callback_url: stage.merchant.url });
    expect(seen[0]).toContain('The answers will be here');
    expect(seen[7]).toContain('7 of 22 cases posted so far.');
    const text = textOf(await show('/check'));
    expect(text).toMatch(/\d+ of 22 cases failed\. \d+ as expected, \d+ warnings?, \d+ failed\./);
    expect(text).toContain('answers 200 to a repetition or to another amount, and credits it, passes');
  });
});
