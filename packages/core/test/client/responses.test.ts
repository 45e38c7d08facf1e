import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClientWithSecretKey } from '../../src/client/client.ts';
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
import { bank, exactWallet, provider, publicKey, secretKey, wallet } from './wire-samples.ts';

async function clientOf(...answers: Answer[]): Promise<ClientWithSecretKey> {
  const { baseUrl } = await startService(...answers);
  return createClient({ baseUrl, publicKey, secretKey, timing: { random: () => 0 } });
}

describe('an error of the service throws an ApiError (protocol §7)', () => {
  test('400 for a missing provider_code shows the message of the service', async () => {
    const client = await clientOf(failure(400, {}, 'provider_code is required'));
    const error = await failureOf(client.listPayoutBanks({ provider_code: '' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 'api_error',
      status: 400,
      serviceMessage: 'provider_code is required',
      attempts: 1,
      message:
        'listPayoutBanks: the service answered 400: "provider_code is required". Check the request, the keys and baseUrl.',
    });
  });

  test.each([401, 403, 404, 405, 409, 418, 422, 501, 505, 201, 204, 206])(
    '%s, which the protocol does not show, throws an ApiError without a retry',
    async (status) => {
      const service = await startService(status === 204 ? reply(204, '') : failure(status));
      const client = createClient({ baseUrl: service.baseUrl, publicKey });
      expect(await failureOf(client.listPaymentProviders())).toMatchObject({ code: 'api_error', status });
      expect(service.requests).toHaveLength(1);
    },
  );

  test('an error whose body is HTML keeps its status and shows the start of the body', async () => {
    const page = `<html>\n<h1>Bad Gateway</h1>\n${'x'.repeat(2000)}</html>`;
    const client = await clientOf(reply(502, page, { 'content-type': 'text/html' }));
    const error = await failureOf(client.listPaymentProviders());
    expect(error).toMatchObject({ code: 'api_error', status: 502, serviceMessage: undefined, attempts: 3 });
    if (!(error instanceof ApiError)) return expect.fail();
    expect(error.snippet).toHaveLength(512);
    expect(error.snippet?.startsWith('<html> <h1>Bad Gateway</h1> xxx')).toBe(true);
  });

  test.each(['', ' ', 'null', '{}', '[]', '"x"', '{"message":null}', '{"message":5}', '<p>'])(
    'an error with the body %j has no message of the service',
    async (body) => {
      const error = await failureOf((await clientOf(reply(403, body))).getWalletBalances());
      expect(error).toMatchObject({ code: 'api_error', status: 403 });
      expect(error).toHaveProperty('serviceMessage', undefined);
    },
  );

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

describe('a 200 that is not JSON is refused', () => {
  test('HTML throws an InvalidResponseError with a snippet', async () => {
    const client = await clientOf(
      reply(200, '<h1>Welcome</h1>', { 'content-type': 'text/html; charset=utf-8' }),
    );
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({
      code: 'invalid_response',
      status: 200,
      snippet: '<h1>Welcome</h1>',
      message: expect.stringContaining('not JSON'),
    });
  });

  test.each(['application/json', 'application/vnd.service+json', 'text/plain', 'text/html', 'nonsense'])(
    'JSON with the content type %s is accepted, since the protocol shows none',
    async (type) => {
      const body = JSON.stringify(successBody({ payment_providers: [] }));
      const client = await clientOf(reply(200, body, { 'content-type': type }));
      expect(await client.listPaymentProviders()).toEqual([]);
    },
  );

  test('a missing content type is left to the JSON parser', async () => {
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
    ['a truncated body', '{"code":200'],
    ['a word', 'OK'],
  ])('%s throws an InvalidResponseError', async (_name, body) => {
    const client = await clientOf(reply(200, body));
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({
      code: 'invalid_response',
      status: 200,
      snippet: body,
      message: expect.stringContaining('not JSON'),
    });
  });

  test('bytes that are not UTF-8 throw an InvalidResponseError', async () => {
    const client = await clientOf(reply(200, Buffer.from([0x7b, 0xff, 0x7d])));
    expect(await failureOf(client.listPaymentProviders())).toMatchObject({
      code: 'invalid_response',
      message: expect.stringContaining('UTF-8'),
    });
  });

  test('an error envelope with HTTP 200 throws an ApiError', async () => {
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

  test('a response that breaks the contract is not retried', async () => {
    const service = await startService(reply(200, 'no'));
    const client = createClient({ baseUrl: service.baseUrl, publicKey });
    await failureOf(client.listPaymentProviders());
    expect(service.requests).toHaveLength(1);
  });
});

describe('status and data of the envelope decide (protocol §2.1)', () => {
  const good = successBody({ merchant_wallets: [wallet] });

  test.each([
    ['a code of type string', { ...good, code: '200' }],
    ['a code that contradicts HTTP 200', { ...good, code: 400 }],
    ['no code', { status: 'success', message: 'x', data: good['data'] }],
    ['no message', { code: 200, status: 'success', data: good['data'] }],
    ['a message that is null', { ...good, message: null }],
    ['an unknown field', { ...good, request_id: 'r-1' }],
  ])('a success with %s is a success', async (_name, body) => {
    const client = await clientOf(replyJson(200, body));
    expect(await client.getWalletBalances()).toEqual([exactWallet]);
  });

  test('an error envelope without code and message throws an ApiError', async () => {
    const client = await clientOf(replyJson(200, { status: 'error', code: 'SECRET-VALUE' }));
    const error = await failureOf(client.getWalletBalances());
    expect(error).toMatchObject({ code: 'api_error', status: 200, serviceMessage: undefined });
    expect(String(error)).not.toContain('SECRET-VALUE');
  });

  test.each([
    ['the response: expected object, received array', []],
    ['the response: expected object, received null', null],
    ['status: expected "success" or "error", received boolean', { ...good, status: true }],
    ['status: expected "success" or "error", received another string', { ...good, status: 'SECRET-VALUE' }],
    ['status: expected "success" or "error", received missing', { code: 200, data: good['data'] }],
    ['data: expected object, received missing', { code: 200, status: 'success', message: '' }],
    ['data: expected object, received array', { ...good, data: [] }],
    ['data.merchant_wallets: expected array, received missing', { ...good, data: {} }],
    [
      'data.merchant_wallets: expected array, received object',
      { ...good, data: { merchant_wallets: { 0: wallet } } },
    ],
  ])('the error says "%s" and shows no value', async (what, body) => {
    const client = await clientOf(replyJson(200, body));
    const error = await failureOf(client.getWalletBalances());
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(String(error)).toContain(what);
    expect(JSON.stringify(error) + String(error)).not.toMatch(/SECRET-VALUE|150000/);
  });

  test('inherited members are not read', async () => {
    const client = await clientOf(replyJson(200, { code: 200, status: 'success' }));
    Reflect.set(Object.prototype, 'data', { merchant_wallets: [] });
    try {
      expect(String(await failureOf(client.getWalletBalances()))).toContain(
        'data: expected object, received missing',
      );
    } finally {
      Reflect.deleteProperty(Object.prototype, 'data');
    }
  });
});

describe('a wallet that deviates refuses the whole response', () => {
  const second = (change: object): object => ({ merchant_wallets: [wallet, { ...wallet, ...change }] });
  const infinite = JSON.stringify(successBody({ merchant_wallets: [wallet] })).replace('150000', '1e999');

  test.each([
    ['data.merchant_wallets[1]: expected object, received null', { merchant_wallets: [wallet, null] }],
    ['data.merchant_wallets[1].currency: expected string, received null', second({ currency: null })],
    [
      'data.merchant_wallets[1].actual_balance: expected number, received string',
      second({ actual_balance: '77123' }),
    ],
    [
      'data.merchant_wallets[1].reserve_balance: expected number, received missing',
      second({ reserve_balance: undefined }),
    ],
  ])('the error says "%s" and shows no value', async (what, data) => {
    const client = await clientOf(success(data));
    const error = await failureOf(client.getWalletBalances());
    expect(error).toBeInstanceOf(InvalidResponseError);
    expect(String(error)).toContain(what);
    expect(JSON.stringify(error) + String(error)).not.toMatch(/77123|150000/);
  });

  test('a number beyond the range of a double is refused', async () => {
    const client = await clientOf(reply(200, infinite));
    expect(String(await failureOf(client.getWalletBalances()))).toContain('actual_balance');
  });
});

describe('unknown fields and values are accepted', () => {
  test('any unknown field and any unknown value is kept', async () => {
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

  test('unknown fields of banks and wallets are kept', async () => {
    const extra = { iban_prefix: 'CY', nested: [{ deep: null }] };
    const client = await clientOf(
      success({ payout_banks: [{ ...bank, ...extra }] }),
      success({ merchant_wallets: [{ ...wallet, wallet_type: 'MERCHANT_ESCROW', ...extra }] }),
    );
    expect(await client.listPayoutBanks({ provider_code: 'x' })).toEqual([{ ...bank, ...extra }]);
    expect(await client.getWalletBalances()).toEqual([
      { ...exactWallet, wallet_type: 'MERCHANT_ESCROW', ...extra },
    ]);
  });

  test('unknown fields of the envelope and of data are ignored, and lists may be empty', async () => {
    const client = await clientOf(
      replyJson(200, { ...successBody({ payment_providers: [], page: 1 }), request_id: 'r-1' }),
    );
    expect(await client.listPaymentProviders()).toEqual([]);
  });

  test('a member named __proto__ is dropped and changes no prototype', async () => {
    const body = JSON.stringify(successBody({ payout_banks: [bank] })).replace(
      '"bank_code"',
      '"__proto__":{"is_admin":true},"bank_code"',
    );
    const client = await clientOf(reply(200, body));
    const [found] = await client.listPayoutBanks({ provider_code: 'x' });
    expect(found).toBeDefined();
    expect(Object.getPrototypeOf(found)).toBe(Object.prototype);
    expect(Object.assign({}, found)).not.toHaveProperty('is_admin');
    expect(found).toEqual(bank);
  });
});
