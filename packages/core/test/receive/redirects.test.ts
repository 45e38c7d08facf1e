import { describe, expect, test, vi } from 'vitest';
import {
  createRedirectReceiver,
  type RedirectOptions,
  type Reply,
  receiveRedirect,
} from '../../src/receive/index.ts';
import { QUERY, SIGNING_KEY as signingKey } from '../signed-callbacks.ts';

const URL_OF_REDIRECT = `/payments/return?${QUERY}`;
const PRIVATE = { 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' };

async function answer(
  options: Partial<RedirectOptions>,
  url = URL_OF_REDIRECT,
  method = 'GET',
): Promise<Reply> {
  const { reply } = await receiveRedirect(
    { method, url },
    createRedirectReceiver({ signingKey, ...options }),
  );
  if (reply === undefined) throw new Error('The redirect was passed through.');
  return reply;
}

describe('redirects', () => {
  test.each(['/thanks', 'https://shop.example/thanks?order=1', new URL('https://shop.example/thanks')])(
    'a verified redirect sends the browser to %s',
    async (location) => {
      expect(await answer({ onRedirect: () => location })).toEqual({
        status: 303,
        headers: { location: String(location), ...PRIVATE },
        body: '',
      });
    },
  );

  test.each([undefined, '', '/thanks\r\nset-cookie: a=b', '/thänks', '/two words', 7, {}])(
    'threat A25: %j is refused as an address to send the browser to',
    async (location) => {
      const onError = vi.fn();
      const reply = await answer({ onRedirect: () => location as string, onError });
      expect(reply).toMatchObject({ status: 429, headers: PRIVATE, body: '{"error":"handler_failed"}' });
      expect(reply.headers).not.toHaveProperty('location');
      expect(onError).toHaveBeenCalledWith(
        expect.objectContaining({
          option: 'onRedirect',
          message:
            'onRedirect must return the address to send the browser to: a URL, or a percent-encoded string such as "/thanks".',
        }),
      );
    },
  );

  test('a refused redirect goes to refusedLocation, or gets the constant 401', async () => {
    const forged = URL_OF_REDIRECT.replace('COMPLETED', 'FAILED');
    const onRefused = vi.fn();
    const elsewhere = await answer({ refusedLocation: '/failed', onRefused }, forged);
    expect(elsewhere).toEqual({ status: 303, headers: { location: '/failed', ...PRIVATE }, body: '' });
    expect(await answer({ onRefused }, forged)).toMatchObject({ status: 401, headers: PRIVATE });
    expect(onRefused.mock.calls).toMatchObject([
      [{ code: 'mismatch' }, undefined],
      [{ code: 'mismatch' }, undefined],
    ]);
  });

  test('another method than GET is answered 405, and reaches onRefused', async () => {
    const onRefused = vi.fn();
    expect(await answer({ onRefused }, URL_OF_REDIRECT, 'POST')).toEqual({
      status: 405,
      headers: { 'content-type': 'application/json; charset=utf-8', allow: 'GET', ...PRIVATE },
      body: '{"error":"method_not_allowed"}',
    });
    expect(onRefused.mock.calls).toMatchObject([
      [{ code: 'method_not_allowed', authentic: false }, undefined],
    ]);
  });

  test('without onRedirect, the redirect is passed through with the headers of its page', async () => {
    const received = await receiveRedirect(
      { method: 'GET', url: URL_OF_REDIRECT },
      createRedirectReceiver({ signingKey }),
    );
    expect(received).toMatchObject({ reply: undefined, redirect: { kind: 'redirect' }, headers: PRIVATE });
  });
});
