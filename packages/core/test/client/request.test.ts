import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { ClientWithSecretKey } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { Method, RequestOptions, Schema } from '../../src/client/request/request.ts';
import { ApiError, ConfigurationError, InvalidResponseError, TimeoutError } from '../../src/errors.ts';
import {
  type Answer,
  clientAt,
  clientWith,
  failure,
  failureOf,
  reply,
  replyJson,
  reset,
  serve,
  stall,
  success,
} from './local-service.ts';
import { publicKey, secretKey } from './wire-samples.ts';

const STARTED = { id: 7, page: 'https://pay.example/7' };
const start = { method: 'POST', path: '/collections', body: { amount: 500 } } as const;
const envelope = (status: number, data: unknown): Answer =>
  replyJson(status, { code: status, status: 'success', message: 'Done', data });
/** Responds with what it received. */
const echo: Answer = async (response, request) => {
  const body = await text(request);
  const { method, url, headers } = request;
  success({ method, url, headers, body })(response, request);
};

test('method, path, query, body, version, keys and further headers arrive as they were passed', async () => {
  const { baseUrl } = await serve(echo);
  const { client } = clientAt(`${baseUrl}/pay/v2`);
  const { status, message, data } = await client.request({
    method: 'PATCH',
    path: '/wallets/{currency}/transfers/{id}',
    params: { currency: 'UGX', id: 'a b+ü:1' },
    query: { b: [1, 2], a: 'x&y=z', left_out: undefined, c: false },
    body: { amount: 500, note: 'für Ada' },
    headers: { 'idempotency-key': 'k-1' },
    secretKey: true,
  });
  expect([status, message]).toEqual([200, 'Request completed successfully']);
  expect(data).toEqual({
    method: 'PATCH',
    url: '/pay/v2/wallets/UGX/transfers/a%20b%2B%C3%BC%3A1?a=x%26y%3Dz&b=1&b=2&c=false',
    headers: expect.objectContaining({
      accept: 'application/json',
      'content-type': 'application/json',
      'x-api-version': '1',
      'public-key': publicKey,
      'secret-key': secretKey,
      'idempotency-key': 'k-1',
    }),
    body: '{"amount":500,"note":"für Ada"}',
  });
});

test('the secret key is sent only on request, and a body only if there is one', async () => {
  const { client } = await serve(echo);
  const { data } = await client.request({
    method: 'POST',
    path: '/a',
    schema: z.looseObject({ headers: z.record(z.string(), z.string()) }),
  });
  expect(Object.keys(data.headers)).toContain('public-key');
  expect(data.headers).not.toHaveProperty('secret-key');
  expect(data.headers).not.toHaveProperty('content-type');
});

test.each<[Method, Answer]>([
  ['HEAD', reply(200, '')],
  ['DELETE', reply(204, '')],
  ['PUT', reply(205, '')],
])('%s without a body in the response has undefined data', async (method, answer) => {
  const { client } = await serve(answer);
  expect(await client.request({ method, path: '/a' })).toEqual({
    status: expect.any(Number),
    message: '',
    data: undefined,
  });
});

test('every 2xx with the envelope is a success, whatever its data', async () => {
  const { client } = await serve([
    envelope(201, STARTED),
    envelope(202, [1]),
    replyJson(200, { status: 'success' }),
  ]);
  expect(await client.request(start)).toEqual({ status: 201, message: 'Done', data: STARTED });
  expect(await client.request(start)).toEqual({ status: 202, message: 'Done', data: [1] });
  expect(await client.request(start)).toEqual({ status: 200, message: '', data: undefined });
});

test('redirects are not followed', async () => {
  const { client, requests } = await serve(reply(307, '', { location: '/elsewhere' }));
  const error = await failureOf(client.request(start));
  expect(error).toMatchObject({
    status: 307,
    sent: 'unknown',
    message: expect.stringContaining('POST /collections: '),
  });
  expect(requests).toHaveLength(1);
});

/** Standard Schema, asynchronous and without a library. */
const slow: Schema<string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) => (typeof value === 'string' ? { value: value.trim() } : { issues: [{}] }),
  },
};

test('the result has what the schema returns', async () => {
  const { client } = await serve([envelope(200, { id: '7' }), envelope(200, ' a ')]);
  const { data } = await client.request({ ...start, schema: z.object({ id: z.coerce.number() }) });
  expect(data.id + 1).toBe(8);
  expect((await client.request({ ...start, schema: slow })).data).toBe('a');
});

test('other data is an InvalidResponseError that names the place and no value, and may have been accepted', async () => {
  const { client } = await serve(envelope(201, { page: { url: 'private' } }));
  const schema = z.object({ page: z.object({ url: z.literal('x', 'quotes private') }) });
  const error = await failureOf(client.request({ ...start, schema }));
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(error).toMatchObject({ status: 201, sent: 'unknown' });
  expect(String(error)).toMatch(
    /POST \/collections: data\.page\.url does not match the schema\. It may have been received/,
  );
  expect(String(error)).not.toContain('private');
  expect(await failureOf(client.request({ ...start, schema: slow }))).toBeInstanceOf(InvalidResponseError);
});

test('a schema that throws is named, and its error is the cause without keys', async () => {
  const { client } = await serve(envelope(201, {}));
  const schema = z.unknown().transform(() => {
    throw new Error(`with ${secretKey}`);
  });
  const error = await failureOf(client.request({ ...start, schema }));
  expect(error).toMatchObject({
    sent: 'unknown',
    message: expect.stringContaining('the schema failed on data'),
  });
  expect((error as Error).cause).toMatchObject({ message: 'with [redacted]' });
});

const timing = { random: () => 0 };
const answers = [failure(503), reset, envelope(200, STARTED)];

test.each<[Method, object]>([
  ['GET', {}],
  ['HEAD', {}],
  ['POST', { repeat: 'safe' }],
  ['DELETE', { repeat: 'safe' }],
])('%s with %j is retried as the reference calls are', async (method, more) => {
  const { client, requests, reports } = await serve(answers, { timing });
  await client.request({ method, path: '/a', ...more });
  expect(requests).toHaveLength(3);
  expect(reports.map(({ operation, request, outcome }) => [operation, request, outcome])).toEqual([
    ['request', `${method} /a`, 'api_error'],
    ['request', `${method} /a`, 'connection_failed'],
    ['request', `${method} /a`, 'success'],
  ]);
});

test.each<Method>(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is sent once', async (method) => {
  for (const answer of answers.slice(0, 2)) {
    const { client, requests } = await serve(answer, { timing });
    const error = await failureOf(client.request({ method, path: '/a' }));
    expect(error).toMatchObject({
      sent: 'unknown',
      message: expect.stringContaining('do not send it again'),
    });
    expect(requests).toHaveLength(1);
  }
});

test('after an attempt that may have arrived, a refusal or a closed port does not say otherwise', async () => {
  const safe = { ...start, repeat: 'safe' } as const;
  const refused = await serve([failure(503), failure(409)], { timing });
  expect(await failureOf(refused.client.request(safe))).toMatchObject({ status: 409, sent: 'unknown' });
  const { client } = await serve(reset, { timing, maxAttempts: 2 });
  expect(await failureOf(client.request(safe))).toMatchObject({ sent: 'unknown' });
});

test('a 4xx is refused, and a 5xx is unknown', async () => {
  for (const [status, sent] of [
    [400, 'refused'],
    [404, 'refused'],
    [429, 'refused'],
    [500, 'unknown'],
    [503, 'unknown'],
  ] as const) {
    const { client } = await serve(failure(status));
    const error = await failureOf(client.request(start));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status, sent, serviceMessage: 'not now' });
  }
});

test('a deadline is unknown, and timeoutMs of the call replaces that of the client', async () => {
  const { client } = await serve(stall(200));
  const error = await failureOf(client.request({ ...start, timeoutMs: 20 }));
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ sent: 'unknown', message: expect.stringContaining('(20)') });
  expect(String(error)).not.toContain('Try again');
});

test('an abort before the call sent nothing, and a later one is unknown', async () => {
  const { client, requests } = await serve(stall(200));
  const early = await failureOf(client.request({ ...start, signal: AbortSignal.abort('gone') }));
  expect(early).toMatchObject({ name: 'AbortError', code: 'aborted', sent: 'no' });
  expect(requests).toHaveLength(0);
  const controller = new AbortController();
  const call = failureOf(client.request({ ...start, signal: controller.signal }));
  while (requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  controller.abort(new Error('the customer left'));
  expect(await call).toMatchObject({ sent: 'unknown', cause: { message: 'the customer left' } });
});

test('an HTTP 200 with the error envelope, or no envelope, is unknown', async () => {
  const { client } = await serve([
    replyJson(200, { code: 409, status: 'error', message: 'twice' }),
    reply(200, '<html>'),
  ]);
  expect(await failureOf(client.request(start))).toMatchObject({
    serviceMessage: 'twice',
    sent: 'unknown',
  });
  expect(await failureOf(client.request(start))).toMatchObject({
    code: 'invalid_response',
    sent: 'unknown',
  });
});

const client = clientWith(() => expect.fail('A request was sent.'));
const refusal = async (
  options: object,
  one: Pick<ClientWithSecretKey, 'request'> = client,
): Promise<ConfigurationError> => {
  const error = await failureOf(one.request({ ...start, ...options } as RequestOptions));
  if (!(error instanceof ConfigurationError)) throw new Error('Not a ConfigurationError.', { cause: error });
  expect(error.sent).toBe('no');
  return error;
};

test.each([
  '',
  'collections',
  '//evil.example',
  '/a//b',
  '/..',
  '/a/../b',
  '/a/.',
  '/.',
  '/%2e%2e/b',
  '/a%2fb',
  '@evil.example',
  '/@evil',
  ':80',
  '.evil.example',
  '/a?b=1',
  '/a#b',
  '/a\\b',
  '/a\r\nx: y',
  '/a b',
  '/é',
  '/a\t',
  'https://evil.example/',
  '/{id',
  '/}',
])('the path %j', async (path) => {
  expect((await refusal({ path })).option).toBe('path');
});

test.each(['', '.', '..', 'a/b', '..\\', '\ud800', null, undefined, {}, Number.NaN])(
  'the value %j in a path',
  async (id) => {
    expect((await refusal({ path: '/a/{id}', params: { id } })).option).toBe('params');
  },
);

const CYCLE: unknown[] = [];
CYCLE.push(CYCLE);

test.each([
  ['params', { params: { id: 1 } }],
  ['params', { params: [] }],
  ['path', { path: 5 }],
  ['query', { query: { a: {} } }],
  ['query', { query: { a: [null] } }],
  ['query', { query: 'a=1' }],
  ['body', { body: '{"amount":500}' }],
  ['body', { body: 500 }],
  ['body', { body: null }],
  ['body', { body: CYCLE }],
  ['body', { method: 'GET' }],
  ['body', { body: new Date(0) }],
  ['method', { method: 'get' }],
  ['method', { method: undefined }],
  ['headers', { headers: { 'secret-key': 'x' } }],
  ['headers', { headers: { 'Content-Type': 'text/plain' } }],
  ['headers', { headers: { a: 'x\r\ny: z' } }],
  ['headers', { headers: { 'a b': 'x' } }],
  ['timeoutMs', { timeoutMs: 0 }],
  ['repeat', { repeat: true }],
  ['schema', { schema: {} }],
  ['signal', { signal: new AbortController() }],
  ['secretKey', { secretKey: 'yes' }],
  ['idempotencyKey', { idempotencyKey: 'x' }],
])('%s as in row %#', async (option, options) => {
  expect((await refusal(options)).option).toBe(option);
});

test('the secret key of a client that has none', async () => {
  const { baseUrl } = await serve(echo);
  const { client } = clientAt(baseUrl, {});
  expect((await client.request({ ...start, secretKey: true })).status).toBe(200);
  const without: Pick<ClientWithSecretKey, 'request'> = createClient({
    baseUrl,
    publicKey,
  }) as ClientWithSecretKey;
  expect((await refusal({ secretKey: true }, without)).message).toMatch(
    /needs a client with the option secretKey/,
  );
});

test('no error holds a key or a header of the caller, however the service echoes it', async () => {
  const token = 'Bearer token-of-the-merchant';
  const { client } = await serve((response, request) => {
    reply(500, JSON.stringify({ message: `got ${JSON.stringify(request.headers)}` }))(response, request);
  });
  const error = await failureOf(
    client.request({ ...start, secretKey: true, headers: { authorization: token } }),
  );
  const shown = JSON.stringify([error, String(error), (error as ApiError).snippet]);
  expect(shown).toContain('redacted');
  for (const secret of [token, secretKey, publicKey]) expect(shown).not.toContain(secret);
});
