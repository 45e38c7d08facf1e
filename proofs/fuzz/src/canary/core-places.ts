import { createServer, type RequestListener } from 'node:http';
import { assertAmount, createVerifier } from '@payment-service/core';
import { type AttemptReport, createClient } from '@payment-service/core/client';
import { createCallbackReceiver } from '@payment-service/core/receive';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { listening } from '@payment-service/durability/load/serve.ts';
import { atTheEnd } from '@payment-service/durability/measure/program.ts';
import { everythingIn, type Places, SECRETS, thrownBy } from './secrets.ts';

const KEYS = { publicKey: SECRETS['public key'], secretKey: SECRETS['secret key'] };
const signingKey = SECRETS['signing key'];

/** The body and headers of a callback about the person, with changes to its payload. */
export function callbackOf(
  reference: string,
  change: Record<string, unknown> = {},
  key: string = signingKey,
): { readonly body: string; readonly headers: Record<string, string> } {
  const [customer_name, transaction_account] = [SECRETS.name, SECRETS.phone];
  const payload = { merchant_reference: reference, internal_reference: `INT-${reference}` };
  const data = sampleCallback({ payload: { ...payload, customer_name, transaction_account, ...change } });
  const signature = signCallback({ signingKey: key, data });
  return {
    body: JSON.stringify(data),
    headers: { 'content-type': 'application/json', 'hmac-signature': signature },
  };
}

/** Objects, errors and responses of core. */
export async function corePlaces(): Promise<Places> {
  const verifier = createVerifier({ signingKey });
  const { body, headers } = callbackOf('ORD-1');
  const signature = headers['hmac-signature'] ?? '';
  const forged = callbackOf('ORD-1', {}, 'another-key-of-some-length').headers['hmac-signature'];
  const refused = [
    { signature: forged },
    { body: body.slice(0, -9) },
    { signature: signingKey },
    { body: body.replace('"COLLECTION"', 'null') },
    { body: body.replace('ORD-1', SECRETS.name) },
  ].map((given) => verifier.verifyCallback({ body, signature, ...given }));
  const accepted = verifier.verifyCallback({ body, signature });
  if (!accepted.ok || refused.some(({ ok }) => ok)) throw new Error('A verdict is wrong.');
  const baseUrl = 'http://127.0.0.1:1';
  const errors: Readonly<Record<string, () => unknown>> = {
    'assertAmount() of another amount': () => assertAmount(accepted, { currency: 'UGX', amount: '999' }),
    'a signing key with spaces': () => createVerifier({ signingKey: ` ${signingKey} ` }),
    'a signing key with a line break': () => createVerifier({ signingKey: `${signingKey}\n` }),
    'a signing key in a list twice': () =>
      createVerifier({ signingKey: ['a', 'b'].map((id) => ({ id, key: signingKey })) }),
    'the option publicKey': () => createClient({ baseUrl, ...KEYS, publicKey: `${KEYS.publicKey}\n` }),
    'the option secretKey': () => createClient({ baseUrl, ...KEYS, secretKey: ` ${KEYS.secretKey}` }),
    'the option baseUrl': () => createClient({ ...KEYS, baseUrl: `http://${KEYS.secretKey}@127.0.0.1/` }),
  };
  const places: Places = {
    'core: a verifier': everythingIn(verifier),
    'core: refusals': everythingIn(refused),
    'core: an accepted callback': everythingIn(accepted),
    'core: a receiver': everythingIn(createCallbackReceiver({ signingKey, onCallback: () => undefined })),
    'core: a client': everythingIn(createClient({ baseUrl, ...KEYS })),
  };
  for (const [what, call] of Object.entries(errors))
    places[`core: the error of ${what}`] = await thrownBy(call);
  return { ...places, ...(await echoPlaces()) };
}

/** A hostile service's responses to a client, which echo its request. */
const ECHOES: readonly (readonly [what: string, status: number, shaped: (echo: string) => string])[] = [
  ['a 401 that quotes the keys', 401, (echo) => echo],
  ['a 500 page', 500, (echo) => `<pre>${echo}</pre>`],
  ['a 200 that is a list', 200, (echo) => echo],
  [
    'a 200 with rows of another shape',
    200,
    (echo) => JSON.stringify({ code: 200, message: echo, data: [echo] }),
  ],
];

async function echoPlaces(): Promise<Places> {
  const places: Places = {};
  for (const [what, status, shaped] of ECHOES) {
    const baseUrl = await listen(({ headers, url }, response) => {
      response.writeHead(status).end(shaped(JSON.stringify([headers, url, SECRETS.phone, SECRETS.name])));
    });
    const reports: AttemptReport[] = [];
    const onResponse = (report: AttemptReport): void => void reports.push(report);
    const client = createClient({ baseUrl, ...KEYS, maxAttempts: 1, onResponse });
    places[`core: the error of ${what}`] = await thrownBy(() => client.getWalletBalances());
    places[`core: onResponse of ${what}`] = everythingIn(reports);
  }
  return places;
}

/** @returns the address of a server that is closed at the end of the run. */
export async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  const port = await listening(server);
  atTheEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${port}`;
}
