import { expect, test, vi } from 'vitest';
import type { RedirectOptions } from '../../src/receive/index.ts';
import { redirected } from '../incoming.ts';
import { QUERY } from '../signed-callbacks.ts';

const URL_OF_REDIRECT = `/payments/return?${QUERY}`;
const FORGED = URL_OF_REDIRECT.replace('COMPLETED', 'FAILED');
const PRIVATE = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };
const seeOther = (location: string) => ({ status: 303, headers: { location, ...PRIVATE }, body: '' });

const answer = async (options: Partial<RedirectOptions>, url = URL_OF_REDIRECT, method = 'GET') =>
  (await redirected(options, url, method)).reply;

test.each(['/thanks', 'https://shop.example/thanks?order=1', new URL('https://shop.example/thanks')])(
  'a verified redirect sends the browser to %s',
  async (location) => {
    expect(await answer({ onRedirect: () => location })).toEqual(seeOther(String(location)));
  },
);

test.each(['https://shop.example/return', '/', 'return', ''])(
  'a redirect to the address %j is verified by its query',
  async (path) =>
    expect(await answer({ onRedirect: () => '/thanks' }, `${path}?${QUERY}`)).toMatchObject({
      status: 303,
    }),
);

test.each([undefined, '', '/thanks\r\nset-cookie: a=b', '/thänks', '/two words', 7, {}])(
  'threat A25: %j is refused as an address to send the browser to',
  async (location) => {
    const onError = vi.fn();
    const reply = await answer({ onRedirect: () => location as string, onError });
    expect(reply).toMatchObject({ status: 429, headers: PRIVATE, body: '{"error":"handler_failed"}' });
    expect(reply?.headers).not.toHaveProperty('location');
    const message =
      'onRedirect must return the address to send the browser to: a URL, or a percent-encoded string such as "/thanks".';
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ option: 'onRedirect', message }));
  },
);

test('a refused redirect goes to refusedLocation, or gets the constant 401', async () => {
  const onRefused = vi.fn();
  expect(await answer({ refusedLocation: '/failed', onRefused }, FORGED)).toEqual(seeOther('/failed'));
  const unauthorized = { status: 401, headers: PRIVATE, body: '{"error":"unauthorized"}' };
  for (const url of [FORGED, '/payments/return'])
    expect(await answer({ onRefused }, url)).toMatchObject(unauthorized);
  expect(onRefused.mock.calls).toMatchObject(
    ['mismatch', 'mismatch', 'signature_missing'].map((code) => [{ code }, undefined]),
  );
});

test('another method than GET is answered 405, and reaches onRefused', async () => {
  const onRefused = vi.fn();
  expect(await answer({ onRefused }, URL_OF_REDIRECT, 'POST')).toEqual({
    status: 405,
    headers: { 'content-type': 'application/json; charset=utf-8', allow: 'GET', ...PRIVATE },
    body: '{"error":"method_not_allowed"}',
  });
  const refusal = { code: 'method_not_allowed', authentic: false };
  expect(onRefused.mock.calls).toMatchObject([[refusal, undefined]]);
});

test('without onRedirect, the redirect is passed through with the headers of its page', async () => {
  expect(await redirected()).toMatchObject({
    reply: undefined,
    redirect: { kind: 'redirect' },
    headers: PRIVATE,
  });
});
