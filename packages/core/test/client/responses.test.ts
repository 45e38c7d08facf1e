import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClientWithSecretKey } from '../../src/client/client-options.ts';
import { createClient } from '../../src/client/create-client.ts';
import { ApiError, InvalidResponseError } from '../../src/errors.ts';
import { failureOf } from './failure-of.ts';
import {
  type Answer,
  failure,
  reply,
  replyJson,
  resetInBody,
  startService,
  success,
  successBody,
} from './local-service.ts';
import { bank, provider, publicKey, secretKey, wallet } from './wire-samples.ts';

async function clientOf(...answers: Answer[]): Promise<ClientWithSecretKey> {
  const { baseUrl } = await startService(...answers);
  return createClient({ baseUrl, publicKey, secretKey, timing: { random: () => 0 } });
}

describe('errors of the service (protocol §7)', () => {
  test('400 for a missing provider_code', async () => {
    const client = await clientOf(failure(400, {}, 'provider_code is required'));
    const error = await failureOf(client.listPayoutBanks({ provider_code: '' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'api_error',
      status: 400,
      serviceMessage: 'provider_code is required',
      attempts: 1,
      message: 'listPayoutBanks: the service answered 400: "provider_code is required". Correct the request.',
    });
  });

  test.each([401, 403, 404, 405, 409, 418, 422, 501, 505, 201, 204, 206])(
    'the specification does not show %s: an ApiError, sent once',
    async (status) => {
      const service = await startService(status === 204 ? reply(204, '') : failure(status));
      const client = createClient({ baseUrl: service.baseUrl, publicKey });
      expect(await failureOf(client.listPaymentProviders())).toMatchObject({ code: 'api_error', status });
      expect(service.requests).toHaveLength(1);
    },
  );

  test('an error whose body is HTML keeps its status and shows the start of it', async () => {
    const page = `<html>\n<h1>Bad Gateway</h1>\n${'x'.repeat(2000)}</html>`;
    const client = await clientOf(reply(502, page, { 'content-type': 'text/html' }));
    const error = await failureOf(client.listPaymentProviders());
    expect(error).toMatchObject({ code: 'api_error', status: 502, serviceMessage: undefined, attempts: 3 });
    if (!(error instanceof ApiError)) return expect.fail();
    expect(error.snippet).toHaveLength(512);
    expect(error.snippet?.startsWith('<html> <h1>Bad Gateway</h1> xxx')).toBe(true);
  });

  test('an error whose body breaks off keeps its status', async () => {
    const client = await clientOf(resetInBody(403));
    const error = await failureOf(client.listPaymentProviders());
    expect(error).toMatchObject({ code: 'api_error', status: 403, snippet: undefined });
    expect(error).toHaveProperty('cause');
  });

  test('an error whose envelope has another code keeps its status', async () => {
    const client = await clientOf(
      replyJson(400, { code: 200, status: 'success', message: 'fine', data: { merchant_wallets: [] } }),
    );
    expect(await failureOf(client.getWalletBalances())).toMatchObject({ code: 'api_error', status: 400 });
  });
});

describe('a 200 that is none', () => {
  test('HTML: an InvalidResponseError with a snippet', async () => {
    const client = await clientOf(
      reply(200, '<h1>Welcome</h1>', { 'content-type': 'text/html; charset=utf-8' }),
    );
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({
      code: 'invalid_response',
      status: 200,
      snippet: '<h1>Welcome</h1>',
      message: expect.stringContaining('text/html, not JSON'),
    });
  });

  test('JSON under another content type is not taken for JSON', async () => {
    const body = JSON.stringify(successBody({ payment_providers: [] }));
    const client = await clientOf(reply(200, body, { 'content-type': 'text/plain' }));
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(InvalidResponseError);
  });

  test.each(['application/json', 'Application/JSON; charset=UTF-8', 'application/vnd.service+json'])(
    '%s is JSON',
    async (type) => {
      const body = JSON.stringify(successBody({ payment_providers: [] }));
      const client = await clientOf(reply(200, body, { 'content-type': type }));
      expect(await client.listPaymentProviders()).toEqual([]);
    },
  );

  test('a missing content type is left to the parser', async () => {
    const bare = (body: string): Answer => {
      return (response) => {
        response.writeHead(200);
        response.end(body);
      };
    };
    const body = JSON.stringify(successBody({ payment_providers: [] }));
    const client = await clientOf(bare(body), bare('no'));
    expect(await client.listPaymentProviders()).toEqual([]);
    expect(await failureOf(client.listPaymentProviders())).toBeInstanceOf(InvalidResponseError);
  });

  test.each([
    ['an empty body', ''],
    ['a cut one', '{"code":200'],
    ['a word', 'OK'],
  ])('%s', async (_name, body) => {
    const client = await clientOf(reply(200, body));
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({
      code: 'invalid_response',
      status: 200,
      snippet: body,
      message: expect.stringContaining('not JSON'),
    });
  });

  test('bytes that are not UTF-8', async () => {
    const client = await clientOf(reply(200, Buffer.from([0x7b, 0xff, 0x7d])));
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({
      code: 'invalid_response',
      message: expect.stringContaining('UTF-8'),
    });
  });

  test('an error envelope under 200 is an ApiError', async () => {
    const client = await clientOf(
      replyJson(200, { code: 503, status: 'error', message: 'maintenance', data: {} }),
    );
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({
      code: 'api_error',
      status: 200,
      serviceMessage: 'maintenance',
      message: expect.stringContaining('code 503'),
    });
  });

  test.each([201, 400, 500, 0])('an envelope whose code is %s disagrees', async (code) => {
    const client = await clientOf(replyJson(200, { ...successBody({ merchant_wallets: [wallet] }), code }));
    const error = await failureOf(client.getWalletBalances());
    expect(error).toMatchObject({ code: 'invalid_response', status: 200, snippet: undefined });
    expect(String(error)).toContain(`\`code\` of the envelope is ${code}`);
  });

  test('none of these is repeated', async () => {
    const service = await startService(reply(200, 'no'));
    const client = createClient({ baseUrl: service.baseUrl, publicKey });
    await failureOf(client.listPaymentProviders());
    expect(service.requests).toHaveLength(1);
  });
});

describe('a broken envelope names the path of the field, never a value', () => {
  const good = successBody({ merchant_wallets: [wallet, wallet] });
  const second = (change: object): object => ({
    ...good,
    data: { merchant_wallets: [wallet, { ...wallet, ...change }] },
  });
  test.each([
    ['`the answer`', []],
    ['`the answer`', null],
    ['`code`', { ...good, code: '200' }],
    ['`code`', { ...good, code: 200.5 }],
    ['`status`', { ...good, status: true }],
    ['`status`', { ...good, status: 'SECRET-VALUE' }],
    ['`message`', { code: 200, status: 'success', data: {} }],
    ['`data`', { code: 200, status: 'success', message: '' }],
    ['`data`', { ...good, data: [] }],
    ['`data.merchant_wallets`', { ...good, data: {} }],
    ['`data.merchant_wallets`', { ...good, data: { merchant_wallets: { 0: wallet } } }],
    ['`data.merchant_wallets[1]`', { ...good, data: { merchant_wallets: [wallet, null] } }],
    ['`data.merchant_wallets[1].currency`', second({ currency: null })],
    ['`data.merchant_wallets[1].actual_balance`', second({ actual_balance: '77123' })],
    ['`data.merchant_wallets[1].reserve_balance`', second({ reserve_balance: undefined })],
  ])('%s', async (path, body) => {
    const client = await clientOf(replyJson(200, body));
    const error = await failureOf(client.getWalletBalances());
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(String(error)).toContain(path);
    expect(JSON.stringify(error) + String(error)).not.toMatch(/SECRET-VALUE|77123|150000/);
  });

  test.each([
    ['min_amount', '500'],
    ['max_amount', null],
    ['is_active', 'true'],
    ['is_active', 1],
    ['is_active', null],
    ['option_prefixes', '25677'],
    ['option_prefixes', [25677]],
    ['provider_code', 7],
  ])('a provider whose %s is %j', async (field, value) => {
    const client = await clientOf(success({ payment_providers: [{ ...provider, [field]: value }] }));
    const error = await failureOf(client.listPaymentProviders());
    expect(String(error)).toContain(`\`data.payment_providers[0].${field}`);
  });

  test('a number that no double holds is not a number', async () => {
    const body = JSON.stringify(successBody({ merchant_wallets: [wallet] })).replace('150000', '1e999');
    const client = await clientOf(reply(200, body));
    expect(String(await failureOf(client.getWalletBalances()))).toContain('actual_balance');
  });

  test.each(Object.keys(provider))('a provider without %s', async (field) => {
    const { [field]: _left, ...rest }: Record<string, unknown> = { ...provider };
    const client = await clientOf(success({ payment_providers: [rest] }));
    expect(String(await failureOf(client.listPaymentProviders()))).toContain(field);
  });

  test.each(Object.keys(bank))('a bank without %s', async (field) => {
    const { [field]: _left, ...rest }: Record<string, unknown> = { ...bank };
    const client = await clientOf(success({ payout_banks: [rest] }));
    expect(String(await failureOf(client.listPayoutBanks({ provider_code: 'x' })))).toContain(field);
  });
});

describe('unknown is not wrong', () => {
  test('unknown fields and unknown values are kept, whatever they are', async () => {
    const extra = fc.dictionary(
      fc.string().filter((name) => !(name in provider) && name !== '__proto__'),
      fc.jsonValue().filter((value) => !Object.is(value, -0)),
      { noNullPrototype: true },
    );
    const open = { transaction_method: fc.string(), transaction_type: fc.string() };
    let body = '';
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      publicKey,
      fetch: () => new Response(body, { headers: { 'content-type': 'application/json' } }),
    });
    await fc.assert(
      fc.asyncProperty(extra, fc.record(open), async (unknown, values) => {
        const sent = { ...provider, ...values, ...unknown };
        body = JSON.stringify(successBody({ payment_providers: [sent] }));
        expect(await client.listPaymentProviders()).toEqual([JSON.parse(JSON.stringify(sent))]);
      }),
    );
  });

  test('in banks and wallets too', async () => {
    const extra = { iban_prefix: 'CY', nested: [{ deep: null }] };
    const client = await clientOf(
      success({ payout_banks: [{ ...bank, ...extra }] }),
      success({ merchant_wallets: [{ ...wallet, wallet_type: 'MERCHANT_ESCROW', ...extra }] }),
    );
    expect(await client.listPayoutBanks({ provider_code: 'x' })).toEqual([{ ...bank, ...extra }]);
    expect(await client.getWalletBalances()).toEqual([
      { ...wallet, wallet_type: 'MERCHANT_ESCROW', ...extra },
    ]);
  });

  test('unknown fields of the envelope and of data do not matter, and lists may be empty', async () => {
    const client = await clientOf(
      replyJson(200, { ...successBody({ payment_providers: [], page: 1 }), request_id: 'r-1' }),
    );
    expect(await client.listPaymentProviders()).toEqual([]);
  });

  test('a member named __proto__ changes no prototype', async () => {
    const body = JSON.stringify(successBody({ payout_banks: [bank] })).replace(
      '"bank_code"',
      '"__proto__":{"is_admin":true},"bank_code"',
    );
    const client = await clientOf(reply(200, body));
    const [found] = await client.listPayoutBanks({ provider_code: 'x' });
    expect(found).toBeDefined();
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(found).not.toHaveProperty('is_admin');
  });
});
