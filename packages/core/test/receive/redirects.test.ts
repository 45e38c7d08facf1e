import { expect, test, vi } from 'vitest';
import type { RedirectOptions } from '../../src/receive/index.ts';
import { redirected } from '../incoming.ts';
import { QUERY } from '../signed-callbacks.ts';

const VERIFIED = `/payments/return?${QUERY}`;
const FORGED = VERIFIED.replace('COMPLETED', 'FAILED');
const PRIVATE = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };
const PAGE = {
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    ...PRIVATE,
  },
  body: expect.stringMatching(/^<!doctype html>.*<p>Your payment is being checked\.<\/p><\/html>$/),
};
const seeOther = (location: string) => ({ status: 303, headers: { location, ...PRIVATE }, body: '' });

const answer = async (options: Partial<RedirectOptions>, url = VERIFIED, method = 'GET') =>
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
    expect(await answer({ onRedirect: () => '/thanks' }, `${path}?${QUERY}`)).toEqual(seeOther('/thanks')),
);

test.each([undefined, '', '/thanks\r\nset-cookie: a=b', '/thänks', '/two words', 7, {}])(
  'threat A25: %j is refused as an address to send the browser to',
  async (location) => {
    const onError = vi.fn();
    const options = { onRedirect: () => location as string, onError };
    expect(await answer(options)).toEqual({
      status: 429,
      ...PAGE,
      headers: { ...PAGE.headers, 'retry-after': '30' },
    });
    expect(await answer({ ...options, refusedLocation: '/checking' })).toEqual(seeOther('/checking'));
    const message =
      'onRedirect must return the address to send the browser to: a URL, or a percent-encoded string such as "/thanks".';
    expect(onError.mock.calls).toEqual(
      Array(2).fill([expect.objectContaining({ option: 'onRedirect', message })]),
    );
  },
);

const unauthorized = { status: 401, ...PAGE };
const notAllowed = { status: 405, ...PAGE, headers: { allow: 'GET', ...PAGE.headers } };
test.each<[code: string, reply: object, url: string, method?: string, options?: object]>([
  ['mismatch', seeOther('/failed'), FORGED, 'GET', { refusedLocation: '/failed' }],
  ['mismatch', unauthorized, FORGED],
  ['signature_missing', unauthorized, '/payments/return'],
  ['method_not_allowed', notAllowed, VERIFIED, 'POST'],
  // Mail scanners and previews of links send one: no customer has returned.
  ['method_not_allowed', notAllowed, VERIFIED, 'HEAD'],
])('a redirect that is refused as %s reaches onRefused, and is answered %j', async (code, reply, ...row) => {
  const [url, method, options] = row;
  const onRefused = vi.fn();
  expect(await answer({ ...options, onRefused }, url, method)).toEqual(reply);
  expect(onRefused.mock.calls).toMatchObject([[{ code, authentic: false }, undefined]]);
});

test('without onRedirect, the redirect is passed through with the headers of its page', async () => {
  const passed = { reply: undefined, redirect: { kind: 'redirect' }, headers: PRIVATE };
  expect(await redirected()).toMatchObject(passed);
});
