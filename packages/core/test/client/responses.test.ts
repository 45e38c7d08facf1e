import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ApiError, InvalidResponseError } from '../../src/errors.ts';
import {
  type Answer,
  attempt,
  balances,
  banksOf,
  failure,
  failureWith,
  reply,
  resetInBody,
  success,
  successBody,
} from './local-service.ts';
import { bank, exactWallet, provider, wallet } from './wire-samples.ts';

// What is an error of the service (protocol §7), what a 200 must be, and which members of the envelope decide (protocol §2.1).

const PAGE = { 'content-type': 'text/html' };
const LIMIT = 1024 * 1024;
const NO_PROVIDERS = JSON.stringify(successBody({ payment_providers: [] }));
const padded = (length: number): Buffer => Buffer.from(NO_PROVIDERS.padEnd(length, ' '));
const bare = (body: string): Answer => {
  return (response) => response.writeHead(200).end(body);
};
const refused = 'listPaymentProviders: the service answered 403. Check the request, the keys and baseUrl.';
const without = { serviceMessage: undefined, message: refused };

test('400 for a missing provider_code shows the message of the service', async () => {
  const error = await failureWith(failure(400, {}, 'provider_code is required'), {}, banksOf);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    ...{ code: 'api_error', status: 400, serviceMessage: 'provider_code is required', attempts: 1 },
    message:
      'listPayoutBanks: the service answered 400: "provider_code is required". Check the request, the keys and baseUrl.',
  });
});

test.each<[what: string, status: number, Answer, members?: object]>([
  ...[401, 403, 404, 405, 409, 418, 422, 501, 505, 201, 206].map((status): [string, number, Answer] => [
    'a status that the protocol does not show',
    status,
    failure(status),
  ]),
  ['no content', 204, reply(204, '')],
  ...['', ' ', 'null', '{}', '[]', '"x"', '{"message":null}', '{"message":5}', '<p>'].map(
    (body): [string, number, Answer, object] => [`the body ${body}`, 403, reply(403, body), without],
  ),
  ['a body that breaks off', 403, resetInBody(403), { cause: expect.anything() }],
  ['an envelope with another code', 403, reply(403, successBody({ payment_providers: [] }))],
  [
    ...(['a page, whose start is the snippet', 403] as const),
    reply(403, `<html>\n<h1>No</h1>\n${'x'.repeat(2000)}</html>`, PAGE),
    { serviceMessage: undefined, snippet: '<html> <h1>No</h1> '.padEnd(512, 'x') },
  ],
  ['a page over the limit', 403, reply(403, Buffer.alloc(2 ** 21, ' ')), { snippet: undefined }],
])('an answer with %s (%i) throws an ApiError, without a retry', async (_, status, answer, members) => {
  const error = { code: 'api_error', status, ...members };
  expect(await attempt(answer)).toMatchObject({ error, sent: 1 });
});

test.each<[what: string, Answer]>([
  ['of exactly the limit', reply(200, padded(LIMIT))],
  ['compressed with gzip', reply(200, gzipSync(padded(1000)), { 'content-encoding': 'gzip' })],
  ...['application/vnd.service+json', 'text/plain', 'text/html', 'nonsense'].map((type): [string, Answer] => [
    `of type ${type}`,
    reply(200, NO_PROVIDERS, { 'content-type': type }),
  ]),
  ['without a type', bare(NO_PROVIDERS)],
  ['with unknown fields', reply(200, { ...successBody({ payment_providers: [], page: 1 }), id: 'r-1' })],
])('a 200 of JSON %s is accepted', async (_, answer) => {
  expect(await attempt(answer)).toMatchObject({ found: [] });
});

test.each<[what: string, Answer, message: string, snippet?: string]>([
  ['HTML', reply(200, '<h1>Welcome</h1>', PAGE), 'not JSON', '<h1>Welcome</h1>'],
  ['a word without a type', bare('no'), 'not JSON', 'no'],
  ['an empty body', reply(200, ''), 'not JSON', ''],
  ['a truncated body', reply(200, '{"code":200'), 'not JSON', '{"code":200'],
  ['bytes that are not UTF-8', reply(200, Buffer.from([0x7b, 0xff, 0x7d])), 'UTF-8'],
  ['one byte more than the limit', reply(200, padded(LIMIT + 1)), 'longer than 1048576 bytes'],
])('a 200 of %s throws an InvalidResponseError, without a retry', async (_, answer, message, snippet) => {
  const { error, sent } = await attempt(answer);
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(error).toMatchObject({ status: 200, message: expect.stringContaining(message) });
  if (snippet !== undefined) expect(error).toMatchObject({ snippet });
  expect(sent).toBe(1);
});

test('reading an endless body stops at the limit, and its connection is closed', async () => {
  const { error, requests } = await attempt((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const send = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, ' ')));
    };
    response.on('drain', send);
    send();
  });
  expect(error).toBeInstanceOf(InvalidResponseError);
  await requests[0]?.closed;
});

const good = successBody({ merchant_wallets: [wallet] });
const { data } = good;

test.each([
  ['a code of type string', { ...good, code: '200' }],
  ['a code that contradicts HTTP 200', { ...good, code: 400 }],
  ['no code', { status: 'success', message: 'x', data }],
  ['no message', { code: 200, status: 'success', data }],
  ['an unknown field', { ...good, request_id: 'r-1' }],
])('an envelope of a success with %s is a success', async (_, body) => {
  expect(await attempt(reply(200, body), {}, balances)).toMatchObject({ found: [exactWallet] });
});

test.each([
  [{ code: 503, message: 'maintenance', data: {} }, 'maintenance', 'an error envelope (code 503)'],
  [{ code: 'SECRET-VALUE' }, undefined, 'an error envelope'],
])('the error envelope %j with HTTP 200 throws an ApiError', async (members, serviceMessage, message) => {
  const error = await failureWith(reply(200, { status: 'error', ...members }));
  expect(error).toMatchObject({ code: 'api_error', status: 200, serviceMessage });
  expect(String(error)).toMatch(`${message}${serviceMessage === undefined ? '. ' : ''}`);
  expect(String(error)).not.toContain('SECRET-VALUE');
});

const second = (change: object) => successBody({ merchant_wallets: [wallet, { ...wallet, ...change }] });
test.each<[what: string, body: unknown]>([
  ['the response: expected object, received array', []],
  ['the response: expected object, received null', 'null'],
  ['status: expected "success" or "error", received boolean', { ...good, status: true }],
  ['status: expected "success" or "error", received another string', { ...good, status: 'SECRET-VALUE' }],
  ['status: expected "success" or "error", received missing', { code: 200, data }],
  ['data: expected object, received missing', { code: 200, status: 'success', message: '' }],
  ['data.merchant_wallets: expected array, received object', { ...good, data: { merchant_wallets: {} } }],
  ['wallets[1]: expected object, received null', successBody({ merchant_wallets: [wallet, null] })],
  ['data.merchant_wallets[1].currency: expected string, received null', second({ currency: null })],
  ['[1].actual_balance: expected number, received string', second({ actual_balance: '77123' })],
  ['[1].reserve_balance: expected number, received missing', second({ reserve_balance: undefined })],
])('a balance inquiry whose response deviates fails with "%s", and shows no value', async (what, body) => {
  const error = await failureWith(reply(200, body as object), {}, balances);
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(String(error)).toContain(what);
  expect(JSON.stringify(error) + String(error)).not.toMatch(/SECRET-VALUE|77123|150000/);
});

const extra = { iban_prefix: 'CY', nested: [{ deep: null }], transaction_type: 'X', wallet_type: 'ESCROW' };
test.each([
  ['payout_banks', bank, banksOf, bank],
  ['merchant_wallets', wallet, balances, exactWallet],
  ['payment_providers', provider, undefined, provider],
] as const)('unknown fields and unknown values of %s are kept', async (list, sent, call, read) => {
  const outcome = await attempt(success({ [list]: [{ ...sent, ...extra }] }), {}, call);
  expect(outcome.found).toEqual([{ ...read, ...extra }]);
});

test('a member named __proto__ is dropped and changes no prototype', async () => {
  const polluting = '"__proto__":{"is_admin":true},"bank_code"';
  const body = JSON.stringify(successBody({ payout_banks: [bank] })).replace('"bank_code"', polluting);
  const { found } = await attempt(reply(200, body), {}, banksOf);
  const [first] = found as object[];
  expect(Object.getPrototypeOf(first)).toBe(Object.prototype);
  expect(Object.assign({}, first)).not.toHaveProperty('is_admin');
  expect(first).toEqual(bank);
});
