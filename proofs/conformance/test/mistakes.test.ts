import { createVerifier } from '@payment-service/core';
import { type Client, createClient } from '@payment-service/core/client';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';
import { sendCallback, sendRedirect, serve } from '../src/genuine.ts';
import { SIGNING_KEY } from '../src/http-request.ts';
import { testMistakes } from '../src/mistakes.ts';

const signingKey = SIGNING_KEY;

/** Routes one after the other on node:http, as middleware: the next one runs if the one before passed the callback through. */
async function callbackRoutes(...routes: Partial<CallbackOptions>[]): Promise<string> {
  const receivers = routes.map((options) => createCallbackReceiver({ signingKey, ...options }));
  return serve(async (request, response) => {
    for (const receiver of receivers) {
      const { reply } = await receiveCallback(incomingCallback(request), receiver);
      if (reply !== undefined) return response.writeHead(reply.status, reply.headers).end(reply.body);
    }
    response.end('passed through');
  });
}

async function redirected(onRedirect: () => unknown): Promise<string> {
  const receiver = createRedirectReceiver({ signingKey, onRedirect: onRedirect as () => string });
  const url = await serve(async (request, response) => {
    const { reply } = await receiveRedirect({ method: 'GET', url: request.url ?? '' }, receiver);
    response.writeHead(reply?.status ?? 500, reply?.headers).end(reply?.body);
  });
  return (await sendRedirect(`${url}/payments/return`)).text();
}

/** A client of a service whose endpoints need the secret key. */
async function client(): Promise<Client> {
  const baseUrl = await serve((request, response) => {
    const isKnown = request.headers['secret-key'] !== undefined;
    const body = { code: 401, status: 'error', message: 'Unauthorized', data: {} };
    response.writeHead(isKnown ? 200 : 401).end(JSON.stringify(body));
  });
  return createClient({ baseUrl, publicKey: 'PUBLICq7Vd2Lk9', secretKey: 'SECRETq7Vd2Lk9x' });
}

testMistakes('core', {
  'a signing key from a variable that is not set': [
    () => createVerifier({ signingKey: process.env['NO_SUCH_KEY'] }),
    'signingKey is missing.',
    'Is the environment variable set?',
  ],
  'another key in the place of the signing key': [
    () => createVerifier({ signingKey: 'sk_live_Zq8sT4vLm2XwRk7Pb' }),
    'has a character other than letters and digits, so it is probably another key.',
    'The dashboard shows it under the account details.',
  ],
  'an onRedirect that returns nothing': [
    () => redirected(() => undefined),
    'onRedirect must return the address',
    'such as "/thanks"',
  ],
  'an onRedirect that returns nothing, as the customer sees it': [
    () => redirected(() => undefined),
    '<p>Your payment is being checked.</p>',
    /^(?!.*(?:handler_failed|\{"))/s,
  ],
  'a route that is mounted twice': [
    async () => sendCallback(await callbackRoutes({}, {})),
    'already read and not parsed, by other middleware, or by paymentCallbacks() itself if it is mounted twice',
    'Mount paymentCallbacks() once, before other middleware',
  ],
  'a route that is mounted at the root of a shop': [
    async () => fetch(await callbackRoutes({ onCallback: () => undefined })),
    'paymentCallbacks() answered the path / with 405. Where it is mounted at the root, it answers every page',
    'mount it on a path of its own, such as /payments/callbacks',
  ],
  'a request() without secretKey: true': [
    async () => (await client()).request({ method: 'POST', path: '/transfers', body: { amount: 500 } }),
    'The secret key was not sent',
    'pass secretKey: true',
  ],
  'getWalletBalances() of a client without the secret key, in JavaScript': [
    () =>
      Object(
        createClient({ baseUrl: 'https://api.example', publicKey: 'PUBLICq7Vd2Lk9' }),
      ).getWalletBalances(),
    'getWalletBalances() needs the secret key',
    'pass secretKey to createClient()',
  ],
});
