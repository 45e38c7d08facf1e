import { describe, expect, it, vi } from 'vitest';
import { type AuthenticRefusal, ConfigurationError, UnavailableError } from '../src/index.ts';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  receiveCallback,
  receiveRedirect,
} from '../src/receive/index.ts';
import { sampleCallback, signCallback } from '../src/testing.ts';

const signingKey = 'KEY-FOR-RECEIVERS';
const data = sampleCallback();
const signature = signCallback({ signingKey, data });

function post(headers: [string, string][] = [['hmac-signature', signature]], parsed: unknown = data) {
  return { method: 'POST', headers, body: { state: 'parsed', data: parsed } as const };
}

describe('options of a receiver', () => {
  it.each([
    ['signingKey', {}],
    ['onCallback', { signingKey, onCallback: 'handler' }],
    ['onRefused', { signingKey, onRefused: true }],
    ['onError', { signingKey, onError: {} }],
    ['failureStatus', { signingKey, failureStatus: 200 }],
    ['failureStatus', { signingKey, failureStatus: '500' }],
    ['bodyTimeoutMs', { signingKey, bodyTimeoutMs: 0 }],
    ['bodyTimeoutMs', { signingKey, bodyTimeoutMs: Number.POSITIVE_INFINITY }],
  ])('a wrong %s is found at construction', (option, options) => {
    expect(() => createCallbackReceiver(options as unknown as CallbackOptions)).toThrow(
      expect.objectContaining({ option }),
    );
  });

  it('a wrong refusedLocation or onRedirect is found at construction', () => {
    expect(() => createRedirectReceiver({ signingKey, refusedLocation: '' })).toThrow(ConfigurationError);
    expect(() => createRedirectReceiver({ signingKey, onRedirect: '/thanks' as never })).toThrow(
      ConfigurationError,
    );
  });
});

describe('hooks', () => {
  it('an error in onRefused reaches onError, and changes no answer', async () => {
    const onError = vi.fn();
    const boom = new Error('metrics are down');
    for (const onRefused of [
      () => {
        throw boom;
      },
      () => Promise.reject(boom),
    ]) {
      const receiver = createCallbackReceiver({ signingKey, onRefused, onError });
      expect(await receiveCallback(post([]), receiver)).toMatchObject({ status: 401 });
    }
    await vi.waitFor(() => expect(onError.mock.calls).toEqual([[boom], [boom]]));
  });

  it('an error in onError is printed, and changes no answer', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const late = new Error('reporter is down');
    const receiver = createCallbackReceiver({
      signingKey,
      onCallback: () => {
        throw new Error('handler');
      },
      onError: () => {
        throw late;
      },
    });
    expect(await receiveCallback(post(), receiver)).toMatchObject({ status: 500 });
    expect(printed).toHaveBeenCalledWith(late);
    printed.mockRestore();
  });

  it('without onError the error of a handler is printed, never lost', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const failure = new Error('database is away');
    const receiver = createCallbackReceiver({
      signingKey,
      onCallback: () => Promise.reject(failure),
      failureStatus: 503,
    });
    expect(await receiveCallback(post(), receiver)).toMatchObject({ status: 503 });
    expect(printed).toHaveBeenCalledWith(failure);
    printed.mockRestore();
  });
});

describe('body', () => {
  it('3.10: is read where somebody has set an encoding on the stream', async () => {
    const text = JSON.stringify(sampleCallback({ payload: { customer_name: 'Ünïcødé 🛒' } }));
    const stream = (async function* chunks(): AsyncGenerator<string> {
      yield text.slice(0, 40);
      yield text.slice(40);
    })();
    const request = { method: 'POST', headers: post().headers, body: { state: 'unread', stream } as const };
    const reply = await receiveCallback(request, createCallbackReceiver({ signingKey }));
    expect(reply.callback?.unsigned.customer_name).toBe('Ünïcødé 🛒');
  });
});

describe('handlers', () => {
  it('503 with Retry-After when a handler cannot keep the callback now', async () => {
    const onError = vi.fn();
    const away = new UnavailableError('The database is away.', { retryAfterSeconds: 7 });
    const receiver = createCallbackReceiver({ signingKey, onCallback: () => Promise.reject(away), onError });
    expect(await receiveCallback(post(), receiver)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '7' },
      body: '{"error":"unavailable"}',
    });
    expect(onError).toHaveBeenCalledWith(away);
  });

  const colon = sampleCallback({ payload: { merchant_reference: 'ORD:1' } });
  const authentic = post([['hmac-signature', signCallback({ signingKey, data: colon })]], colon);

  it('a refusal whose signature fits is kept as evidence, and answered 200', async () => {
    const kept: AuthenticRefusal[] = [];
    const receiver = createCallbackReceiver({
      signingKey,
      onAuthenticRefusal: (refusal) => kept.push(refusal),
    });
    const reply = await receiveCallback(authentic, receiver);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply).not.toHaveProperty('callback');
    expect(kept).toMatchObject([
      { code: 'ambiguous', evidence: { signed: { merchant_reference: 'ORD:1' } } },
    ]);
  });

  it('evidence that cannot be kept is not acknowledged', async () => {
    const onAuthenticRefusal = (): never => {
      throw new UnavailableError('The database is away.');
    };
    const receiver = createCallbackReceiver({ signingKey, onAuthenticRefusal, onError: () => undefined });
    expect(await receiveCallback(authentic, receiver)).toMatchObject({ status: 503 });
  });

  it('without a handler for it, evidence is refused; a forgery never is evidence', async () => {
    expect(await receiveCallback(authentic, createCallbackReceiver({ signingKey }))).toMatchObject({
      status: 401,
    });
    const onAuthenticRefusal = vi.fn();
    const receiver = createCallbackReceiver({ signingKey: 'ANOTHER-KEY', onAuthenticRefusal });
    expect(await receiveCallback(authentic, receiver)).toMatchObject({ status: 401 });
    expect(onAuthenticRefusal).not.toHaveBeenCalled();
  });
});

describe('redirects', () => {
  const query = new URLSearchParams({ event: data.event, hmac_signature: signature });
  for (const [name, value] of Object.entries(data.payload)) query.set(name, String(value));
  const url = `/payments/return?${query}`;

  it.each(['/thanks', 'https://shop.example/thanks?order=1', new URL('https://shop.example/thanks')])(
    'sends the browser on to %s',
    async (location) => {
      const receiver = createRedirectReceiver({ signingKey, onRedirect: () => location });
      expect(await receiveRedirect({ method: 'GET', url }, receiver)).toMatchObject({
        status: 303,
        headers: {
          location: String(location),
          'referrer-policy': 'no-referrer',
          'cache-control': 'no-store',
        },
      });
    },
  );

  it.each([undefined, '', '/thanks\r\nset-cookie: a=b', '/thänks', '/two words'])(
    'threat A25: refuses to send %j as a location',
    async (location) => {
      const onError = vi.fn();
      const receiver = createRedirectReceiver({ signingKey, onRedirect: () => location as string, onError });
      expect(await receiveRedirect({ method: 'GET', url }, receiver)).toMatchObject({ status: 500 });
      expect(onError).toHaveBeenCalledWith(expect.objectContaining({ option: 'onRedirect' }));
    },
  );
});
