import {
  assertAmount,
  assertMerchantReference,
  createVerifier,
  type VerifiedCallback,
} from '@payment-service/core';
import { type Client, createClient } from '@payment-service/core/client';
import { explainRefusals } from '@payment-service/core/explain';
import {
  type CallbackOptions,
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { onTestFinished, vi } from 'vitest';
import { sendCallback, sendRedirect, serve } from '../src/genuine.ts';
import { redirectQuery, SIGNING_KEY } from '../src/http-request.ts';
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
  const options = { signingKey, handlerTimeoutMs: 20 };
  const receiver = createRedirectReceiver({ ...options, onRedirect: onRedirect as () => string });
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

const ORDER = { currency: 'UGX', amount: '500' };
const verifier = createVerifier({ signingKey });
const data = sampleCallback();
const signature = signCallback({ signingKey, data });

/** What JavaScript lets a program pass. */
type Anything = Readonly<Record<string, unknown>>;
const credit = (callback: unknown, order: Anything = ORDER) =>
  assertAmount(callback as VerifiedCallback, order as typeof ORDER);
/** The hint of a refusal, which a program prints in `onRefused`. */
function hint(callback: unknown): string {
  const result = verifier.verifyCallback(callback as Parameters<typeof verifier.verifyCallback>[0]);
  return result.ok ? 'verified' : result.hint;
}

function inProduction<T>(make: () => T): T {
  vi.stubEnv('NODE_ENV', 'production');
  onTestFinished(() => void vi.unstubAllEnvs());
  return make();
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
    'a second paymentCallbacks(), has already read the request body without parsing it',
    'Mount paymentCallbacks() once, before other middleware',
  ],
  'a route that is mounted at the root of a shop': [
    async () => fetch(await callbackRoutes({ onCallback: () => undefined })),
    'paymentCallbacks() answered the path / with 405. Mounted at the root, it answers every page',
    'mount it on a separate path, such as /payments/callbacks',
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
  'a signing key with the line break of its file': [
    () => createVerifier({ signingKey: `${signingKey}\n` }),
    'signingKey contains white space',
    'Copy the key as shown.',
  ],
  'a key of the sandbox in production': [
    () => inProduction(() => createVerifier({ signingKey: 'SANDBOXsigningZq8sT4vLm2' })),
    'signingKey is a sandbox key, and NODE_ENV is "production".',
    'In production, use the signing key of the account.',
  ],
  'explainRefusals() in production': [
    () => inProduction(() => explainRefusals({ signingKey })),
    'explainRefusals() is for development, and NODE_ENV is "production".',
    'log the code and hint of onRefused',
  ],
  'an option that is misspelt': [
    () => createCallbackReceiver({ signingKey, onCallBack: () => undefined } as CallbackOptions),
    'does not know the option "onCallBack".',
    'Did you mean "onCallback"?',
  ],
  'a signature that a proxy has removed': [
    () => hint({ signature: undefined, body: data }),
    'hmac-signature (in a redirect, hmac_signature) is missing.',
    'A proxy may remove it.',
  ],
  'a request in the place of its signature and body': [
    () => hint(new Request('http://127.0.0.1/', { headers: { 'hmac-signature': signature } })),
    'This is a request.',
    'Pass { signature, body }: its hmac-signature header and its body.',
  ],
  'all headers in the place of one': [
    () => hint({ signature: new Headers({ 'hmac-signature': signature }), body: data }),
    'The signature is a Headers.',
    'Pass the string.',
  ],
  'a body that was not awaited': [
    () => hint({ signature, body: Promise.resolve(JSON.stringify(data)) }),
    'The body is a promise',
    'await it.',
  ],
  'a result whose ok was not checked': [
    () => credit(verifier.verifyCallback({ signature: `t=1,s=${'a'.repeat(64)}`, body: data })),
    'this is a refusal.',
    'Check ok first',
  ],
  'crediting from JSON.parse()': [
    () => credit(JSON.parse(JSON.stringify(data))),
    'A copy or a parsed body proves nothing.',
    'accepts only the result of verifyCallback()',
  ],
  'crediting from a redirect': [
    () => credit(verifier.verifyRedirect(redirectQuery())),
    'assertAmount() does not accept a verified redirect.',
    'Pass the result of verifyCallback().',
  ],
  'an amount that a float has rounded': [
    () => credit(verifier.verifyCallback({ signature, body: data }), { ...ORDER, amount: 0.1 + 0.2 }),
    'It is a number.',
    'a decimal string such as "1999.90", a bigint, or a number of at most 15 digits',
  ],
  'a reference with a colon': [
    () => assertMerchantReference('2026:1001'),
    "The reference contains ':', which separates the signed fields.",
    'Remove it, or set the same colonIn',
  ],
  "a customer's redirect at the route of callbacks": [
    async () => {
      const url = await callbackRoutes({ onRefused: (refusal) => console.warn(refusal.code, refusal.hint) });
      return sendRedirect(`${url}/payments/callbacks`);
    },
    'method_not_allowed',
    'A callback is a POST, unless methods says otherwise; a redirect is a GET.',
  ],
  'an onRedirect that never settles': [
    () => redirected(() => new Promise(() => undefined)),
    'onRedirect did not settle within handlerTimeoutMs, so the customer was sent to refusedLocation',
    'return the address first, and do slow work later.',
  ],
  'a client over http': [
    () => createClient({ baseUrl: 'http://api.example', publicKey: 'PUBLICq7Vd2Lk9' }),
    'baseUrl must start with https://.',
    'For a container on a private network, name its host in allowInsecureHost.',
  ],
  'a client whose address is not set': [
    () => createClient({ baseUrl: process.env['NO_SUCH_URL'] ?? '', publicKey: 'PUBLICq7Vd2Lk9' }),
    'baseUrl is missing. Is the environment variable set?',
    'Use the address that came with the account.',
  ],
  'the public key in the place of the secret key': [
    () =>
      createClient({
        baseUrl: 'https://api.example',
        publicKey: 'PUBLICq7Vd2Lk9',
        secretKey: 'PUBLICq7Vd2Lk9',
      }),
    'secretKey must be the secret key',
    'not the public key',
  ],
});
