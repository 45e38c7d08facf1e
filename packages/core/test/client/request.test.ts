import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { ClientWithSecretKey } from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import type { Method, RequestOptions, Schema } from '../../src/client/request/request.ts';
import { ConfigurationError, InvalidResponseError } from '../../src/errors.ts';
import {
  type Answer,
  attempt,
  clientAt,
  clientWith,
  failure,
  failureOf,
  failureWith,
  reply,
  reset,
  serve,
  stall,
  success,
} from './local-service.ts';
import { publicKey, secretKey } from './wire-samples.ts';

// request() sends any path below baseUrl on the ground of the reference calls.

const STARTED = { id: 7, page: 'https://pay.example/7' };
const start = { method: 'POST', path: '/collections', body: { amount: 500 } } as const;
/** A call of request() with these options in addition to those of the ordinary one. */
const request =
  (options: Partial<RequestOptions> & { readonly schema?: Schema<unknown> } = {}) =>
  (client: ClientWithSecretKey): Promise<unknown> =>
    client.request({ ...start, ...options } as RequestOptions);
const envelope = (status: number, data: unknown): Answer =>
  reply(status, { code: status, status: 'success', message: 'Done', data });
/** Responds with what it received. */
const echo: Answer = async (response, request) => {
  const { method, url, headers } = request;
  success({ method, url, headers, body: await text(request) })(response, request);
};

test('method, path, query, body, version, keys and further headers arrive as they were passed', async () => {
  const { baseUrl } = await serve(echo);
  const { client } = clientAt(`${baseUrl}/pay/v2`);
  const result = await client.request({
    method: 'PATCH',
    path: '/wallets/{currency}/transfers/{id}',
    params: { currency: 'UGX', id: 'a b+ü:1' },
    query: { b: [1, 2], a: 'x&y=z', left_out: undefined, c: false },
    body: { amount: 500, note: 'für Ada' },
    headers: { 'idempotency-key': 'k-1' },
    secretKey: true,
  });
  const headers = {
    ...{ accept: 'application/json', 'content-type': 'application/json', 'x-api-version': '1' },
    ...{ 'public-key': publicKey, 'secret-key': secretKey, 'idempotency-key': 'k-1' },
  };
  const url = '/pay/v2/wallets/UGX/transfers/a%20b%2B%C3%BC%3A1?a=x%26y%3Dz&b=1&b=2&c=false';
  const body = '{"amount":500,"note":"für Ada"}';
  const data = { method: 'PATCH', url, headers: expect.objectContaining(headers), body };
  expect(result).toEqual({ status: 200, message: 'Request completed successfully', data });
});

test('the secret key is sent only on request, and a body only if there is one', async () => {
  const { client } = await serve(echo);
  const schema = z.looseObject({ headers: z.record(z.string(), z.string()) });
  const { headers } = (await client.request({ method: 'POST', path: '/a', schema })).data;
  expect(Object.keys(headers)).toContain('public-key');
  for (const name of ['secret-key', 'content-type']) expect(headers).not.toHaveProperty(name);
});

test.each<[Answer, options: Partial<RequestOptions>, result: object]>([
  [reply(200, ''), { method: 'HEAD', body: undefined }, { status: 200, message: '', data: undefined }],
  [reply(204, ''), { method: 'DELETE' }, { status: 204, message: '', data: undefined }],
  [reply(205, ''), { method: 'PUT' }, { status: 205, message: '', data: undefined }],
  [envelope(201, STARTED), {}, { status: 201, message: 'Done', data: STARTED }],
  [envelope(202, [1]), {}, { status: 202, message: 'Done', data: [1] }],
  [reply(200, { status: 'success' }), {}, { status: 200, message: '', data: undefined }],
])('every 2xx with the envelope, or without a body, is a success: row %#', async (answer, options, found) => {
  expect((await attempt(answer, {}, request(options))).found).toEqual(found);
});

/** Standard Schema, asynchronous and without a library. */
const slow: Schema<string> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) => (typeof value === 'string' ? { value: value.trim() } : { issues: [{}] }),
  },
};

test('the result of request() has what the schema of the caller returns', async () => {
  const { client } = await serve([envelope(200, { id: '7' }), envelope(200, ' a ')]);
  const { data } = await client.request({ ...start, schema: z.object({ id: z.coerce.number() }) });
  expect(data.id + 1).toBe(8);
  expect((await client.request({ ...start, schema: slow })).data).toBe('a');
});

test('data that does not match the schema is an InvalidResponseError that names the place and no value', async () => {
  const answer = envelope(201, { page: { url: 'private' } });
  const schema = z.object({ page: z.object({ url: z.literal('x', 'quotes private') }) });
  const error = await failureWith(answer, {}, request({ schema }));
  expect(error).toBeInstanceOf(InvalidResponseError);
  expect(error).toMatchObject({ status: 201, sent: 'unknown' });
  expect(String(error)).toMatch(
    /POST \/collections: data\.page\.url does not match the schema\. It may have been received/,
  );
  expect(String(error)).not.toContain('private');
  expect(await failureWith(answer, {}, request({ schema: slow }))).toBeInstanceOf(InvalidResponseError);
});

const answers = [failure(503), reset, envelope(200, STARTED)];

test.each<[Method, object]>([
  ['GET', {}],
  ['HEAD', {}],
  ['POST', { repeat: 'safe' }],
  ['DELETE', { repeat: 'safe' }],
])('%s with %j is retried as the reference calls are', async (method, more) => {
  const call = request({ method, path: '/a', body: undefined, ...more });
  const { sent, reports } = await attempt(answers, {}, call);
  expect(sent).toBe(3);
  expect(reports.map(({ operation, request, outcome }) => [operation, request, outcome])).toEqual(
    ['api_error', 'connection_failed', 'success'].map((outcome) => ['request', `${method} /a`, outcome]),
  );
});

test.each<Method>(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s is sent once', async (method) => {
  const message = expect.stringContaining('do not send it again');
  for (const answer of answers.slice(0, 2))
    expect(await attempt(answer, {}, request({ method }))).toMatchObject({
      error: { sent: 'unknown', message },
      sent: 1,
    });
});

const safe = { repeat: 'safe' } as const;
test.each<[what: string, Answer | Answer[], error: object, options?: Partial<RequestOptions>]>([
  ['a refusal after a 503', [failure(503), failure(409)], { status: 409, sent: 'unknown' }, safe],
  ['a closed port after a reset', reset, { sent: 'unknown' }, safe],
  ...[400, 404, 409, 429, 500, 503].map((status): [string, Answer, object] => [
    ...([`a ${status}`, failure(status)] as const),
    { name: 'ApiError', status, sent: status < 409 ? 'refused' : 'unknown', serviceMessage: 'not now' },
  ]),
  [
    ...(['the error envelope under 200', reply(200, { status: 'error', message: 'twice' })] as const),
    { serviceMessage: 'twice', sent: 'unknown' },
  ],
  ['a 200 without an envelope', reply(200, '<html>'), { code: 'invalid_response', sent: 'unknown' }],
  [
    ...(['a deadline of the call', stall(200)] as const),
    { name: 'TimeoutError', sent: 'unknown', message: expect.stringMatching(/^(?!.*Try again).*\(20\)/) },
    { timeoutMs: 20 },
  ],
])('sent says whether the request may have arrived, after %s', async (_, given, error, options) => {
  expect(await failureWith(given, { maxAttempts: 2 }, request(options))).toMatchObject(error);
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

const CYCLE: unknown[] = [];
CYCLE.push(CYCLE);
test.each<[option: string, name: string, ...values: unknown[]]>([
  [
    'path',
    'path',
    '',
    5,
    ...'collections //evil.example /a//b /.. /a/../b /a/. /. /%2e%2e/b /a%2fb'.split(' '),
  ],
  ['path', 'path', ...'@evil.example /@evil :80 .evil.example /a?b=1 /a#b /a\\b /é /{id /}'.split(' ')],
  ['path', 'path', '/a\r\nx: y', '/a b', '/a\t', 'https://evil.example/'],
  ['params', 'params', { id: 1 }, []],
  [
    'query',
    'query',
    { a: {} },
    { a: [null] },
    'a=1',
    { '\ud800': 'x' },
    new Map([['a', '1']]),
    new FormData(),
  ],
  ['body', 'body', '{"amount":500}', 500, null, CYCLE, new Date(0)],
  ['refusedStatuses', 'refusedStatuses', 409, [500], ['409']],
  ['body', 'method', 'GET'],
  ['method', 'method', 'get', undefined],
  ['headers', 'headers', { 'secret-key': 'x' }, { 'Content-Type': 'text/plain' }, { a: 'x\r\ny: z' }],
  [
    'headers',
    'headers',
    { 'a b': 'x' },
    new Headers({ 'secret-key': 'x' }),
    new Map([['a', 'b']]),
    new URLSearchParams('a=b'),
  ],
  ['timeoutMs', 'timeoutMs', 0],
  ['repeat', 'repeat', true],
  ['schema', 'schema', {}],
  ['signal', 'signal', new AbortController()],
  ['secretKey', 'secretKey', 'yes'],
  ['idempotencyKey', 'idempotencyKey', 'x'],
])('the option %s is refused before a byte leaves: row %#', async (option, name, ...values) => {
  const client = clientWith(() => expect.fail('A request was sent.'));
  for (const value of values) {
    const error = await failureOf(request({ [name]: value })(client));
    expect(error, String(value)).toBeInstanceOf(ConfigurationError);
    expect(error, String(value)).toMatchObject({ option, sent: 'no' });
  }
});

class Payment {
  readonly #amount = 500;
  readonly currency = 'UGX';
  get amount(): number {
    return this.#amount;
  }
}

const LOSSY: readonly unknown[] = [
  ...[Number.NaN, Number.POSITIVE_INFINITY, 5n, () => 5, Symbol('x'), Promise.resolve(1), new Array(1)],
  ...[new Map([['a', 1]]), new Set([1]), new Blob(['x']), new FormData(), new URLSearchParams('a=1')],
  ...[Buffer.from('x'), new Uint8Array(2), new ArrayBuffer(2), new ReadableStream(), /x/, new Error('x')],
  new Payment(),
];
test.each(LOSSY.map((value, index) => [index, value] as const))(
  'what JSON would lose of a body is refused with its path before a byte leaves: row %#',
  async (_index, value) => {
    const client = clientWith(() => expect.fail('A request was sent.'));
    const wanted = { code: 'invalid_configuration', option: 'body', sent: 'no' };
    const nested = { items: [{ amount: 1 }, { amount: value }] };
    for (const [body, path] of [
      [value, 'body'],
      [nested, 'body.items[1].amount'],
    ] as const) {
      const error = await failureOf(Reflect.apply(request, undefined, [{ body }])(client));
      expect(error).toMatchObject(wanted);
      expect(String(error)).toContain(path);
    }
  },
);

test('what JSON keeps is sent as it is, with Headers and URLSearchParams', async () => {
  const { client } = await serve(echo);
  const money = { toJSON: () => ({ amount: '5.00', at: new Date(0) }) };
  const body = {
    a: new Date(0),
    money,
    list: [null, 'x', true, 1.5],
    left: undefined,
    bare: Object.create(null),
  };
  const headers = new Headers({ 'idempotency-key': 'key-1' });
  const query = new URLSearchParams([
    ['a', '1'],
    ['a', '2'],
  ]);
  const { data } = await client.request({ ...start, body, headers, query });
  const at = '1970-01-01T00:00:00.000Z';
  const sent = { a: at, money: { amount: '5.00', at }, list: [null, 'x', true, 1.5], bare: {} };
  expect(data).toMatchObject({
    body: JSON.stringify(sent),
    headers: { 'idempotency-key': 'key-1' },
    url: '/collections?a=1&a=2',
  });
});

test.each([
  [409, [409], 'refused'],
  [400, [], 'unknown'],
] as const)(
  'a contract says which statuses start nothing: %i with %j',
  async (status, refusedStatuses, sent) => {
    const { client } = await serve(failure(status));
    expect(await failureOf(client.request({ ...start, refusedStatuses }))).toMatchObject({ status, sent });
  },
);

test.each(['', '.', '..', 'a/b', '..\\', '\ud800', null, undefined, {}, Number.NaN])(
  'the value %j in a path is refused before a byte leaves',
  async (id) => {
    const client = clientWith(() => expect.fail('A request was sent.'));
    const call = request({ path: '/a/{id}', params: { id } as never })(client);
    expect(await failureOf(call)).toMatchObject({ option: 'params', sent: 'no' });
  },
);

test('a client without a secret key cannot send one', async () => {
  const options = { fetch: () => expect.fail('A request was sent.') };
  const client = createClient({ baseUrl: 'https://service.example', publicKey, ...options });
  const message = expect.stringContaining('needs the secret key: pass secretKey to createClient()');
  const error = { option: 'secretKey', sent: 'no', message };
  expect(await failureOf(request({ secretKey: true })(client as ClientWithSecretKey))).toMatchObject(error);
});

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
/** A header of the caller, and the parts of it that a service may echo alone. */
const ECHOED: readonly (readonly [name: string, value: string, ...parts: string[]])[] = [
  ['authorization', 'Bearer token-of-the-merchant', 'token-of-the-merchant'],
  ['authorization', 'Token token="q7Zt91mX==", id=w', 'q7Zt91mX==', 'q7Zt91mX'],
  [
    'authorization',
    basic('shop:pa:ss-wörd'),
    basic('shop:pa:ss-wörd').slice(6),
    'shop:pa:ss-wörd',
    'pa:ss-wörd',
  ],
  ['proxy-authorization', basic('someuser:x'), 'someuser:x', 'someuser'],
  ['authorization', 'Digest username="merchant-7", response="6629fae49393"', 'merchant-7', '6629fae49393'],
  ['authorization', 'Bearer eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM', 'SflKxwRJSM', 'eyJzdWIiOi'],
  ['cookie', 'sid=4f9c1aa0b7; csrf=9d2e7bb1c8', '4f9c1aa0b7', '9d2e7bb1c8'],
  ['x-shop-token', 'first8chars second8char', 'second8char'],
];
const SPELLINGS: readonly ((part: string) => string)[] = [
  (part) => part,
  (part) => part.toUpperCase(),
  encodeURIComponent,
  (part) => Buffer.from(`x${part}`).toString('base64'),
  (part) => Buffer.from(part).toString('hex'),
  (part) => Array.from(part, (char) => `&#${char.charCodeAt(0)};`).join(''),
  (part) => JSON.stringify({ echoed: Buffer.from(part) }),
];
test.each(ECHOED.flatMap(([name, value, ...parts]) => parts.map((part) => [part, name, value] as const)))(
  'threat A68: no error holds the part %s of the header %s of the caller, alone and in every spelling',
  async (part, name, value) => {
    for (const spell of SPELLINGS) {
      const echoed = spell(part);
      const answer = reply(
        500,
        JSON.stringify({ code: 500, status: 'error', message: `<${echoed}>`, data: {} }),
      );
      const error = await failureWith(answer, { maxAttempts: 1 }, request({ headers: { [name]: value } }));
      const shown = [error, String(error), Reflect.get(error as object, 'snippet')].map((one) =>
        JSON.stringify(one),
      );
      expect(shown.join()).toContain('[redacted');
      expect(shown.join().replaceAll('\\', '')).not.toContain(echoed);
    }
  },
);

test.each([
  ['authorization', 'Signature keyId="a1",signature="x"', 'The Signature of this request has expired.'],
  ['idempotency-key', 'ORD-1', 'ORD-1 exists'],
  ['authorization', 'Basic no+base64', 'Basic authentication is off'],
])(
  'control: a message of the service without a secret of the header %s: %s is shown',
  async (name, value, text) => {
    const answer = failure(400, {}, text);
    const error = await failureWith(answer, {}, request({ headers: { [name]: value } }));
    expect(error).toMatchObject({ serviceMessage: text });
  },
);

test('no error holds a key or a header of the caller, however the service echoes it', async () => {
  const token = 'Bearer token-of-the-merchant';
  const echoing: Answer = (response, { headers }) =>
    response.writeHead(500).end(JSON.stringify({ message: `got ${JSON.stringify(headers)}` }));
  const call = request({ secretKey: true, headers: { authorization: token } });
  const error = await failureWith(echoing, {}, call);
  const shown = JSON.stringify([error, String(error), Reflect.get(error as object, 'snippet')]);
  expect(shown).toContain('redacted');
  for (const secret of [token, secretKey, publicKey]) expect(shown).not.toContain(secret);
});
