import { assertAmount, createVerifier } from '@payment-service/core';
import { type AttemptReport, createClient } from '@payment-service/core/client';
import { createCallbackReceiver } from '@payment-service/core/receive';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { everythingIn, type Places, SECRETS, thrownBy } from './secrets.ts';

const KEYS = { publicKey: SECRETS['public key'], secretKey: SECRETS['secret key'] };
const signingKey = SECRETS['signing key'];
const baseUrl = 'http://127.0.0.1:1';

/** The body and headers of a callback about the person, with changes to its payload. */
export function callbackOf(
  reference: string,
  change: Record<string, unknown> = {},
  key: string = signingKey,
): { readonly body: string; readonly headers: Record<string, string>; readonly signature: string } {
  const [customer_name, transaction_account] = [SECRETS.name, SECRETS.phone];
  const payload = { merchant_reference: reference, internal_reference: `INT-${reference}` };
  const data = sampleCallback({ payload: { ...payload, customer_name, transaction_account, ...change } });
  const signature = signCallback({ signingKey: key, data });
  const headers = { 'content-type': 'application/json', 'hmac-signature': signature };
  return { body: JSON.stringify(data), headers, signature };
}

const { body, signature } = callbackOf('ORD-1');
const { signature: forged } = callbackOf('ORD-1', {}, 'another-key-of-some-length');
const verifier = createVerifier({ signingKey });
const accepted = verifier.verifyCallback({ body, signature });
const refused = [
  { signature: forged },
  { body: body.slice(0, -9) },
  { signature: signingKey },
  { body: body.replace('"COLLECTION"', 'null') },
  { body: body.replace('ORD-1', SECRETS.name) },
].map((given) => verifier.verifyCallback({ body, signature, ...given }));

const OBJECTS: Readonly<Record<string, unknown>> = {
  'a verifier': verifier,
  refusals: refused,
  'an accepted callback': accepted,
  'a receiver': createCallbackReceiver({ signingKey, onCallback: () => undefined }),
  'a client': createClient({ baseUrl, ...KEYS }),
};
const FAILING: Readonly<Record<string, () => unknown>> = {
  'assertAmount() of another amount': () =>
    accepted.ok && assertAmount(accepted, { currency: 'UGX', amount: '999' }),
  'a signing key with spaces': () => createVerifier({ signingKey: ` ${signingKey} ` }),
  'a signing key with a line break': () => createVerifier({ signingKey: `${signingKey}\n` }),
  'a signing key in a list twice': () =>
    createVerifier({ signingKey: ['a', 'b'].map((id) => ({ id, key: signingKey })) }),
  'the option publicKey': () => createClient({ baseUrl, ...KEYS, publicKey: `${KEYS.publicKey}\n` }),
  'the option secretKey': () => createClient({ baseUrl, ...KEYS, secretKey: ` ${KEYS.secretKey}` }),
  'the option baseUrl': () => createClient({ ...KEYS, baseUrl: `http://${KEYS.secretKey}@127.0.0.1/` }),
};
/** A hostile service's responses to a client, which echo its request. */
const ECHOES: readonly (readonly [what: string, status: number, shaped: (echo: string) => string])[] = [
  ['a 401 that quotes the keys', 401, (echo) => echo],
  ['a 500 page', 500, (echo) => `<pre>${echo}</pre>`],
  ['a 200 that is a list', 200, (echo) => echo],
  ['a 200 with other rows', 200, (echo) => JSON.stringify({ code: 200, message: echo, data: [echo] })],
];

/** Objects, errors and responses of core. */
export async function corePlaces(): Promise<Places> {
  if (!accepted.ok || refused.some(({ ok }) => ok)) throw new Error('A verdict is wrong.');
  const places: Places = {};
  for (const [what, value] of Object.entries(OBJECTS)) places[`core: ${what}`] = everythingIn(value);
  for (const [what, call] of Object.entries(FAILING))
    places[`core: the error of ${what}`] = await thrownBy(call);
  for (const [what, status, shaped] of ECHOES) {
    const reports: AttemptReport[] = [];
    const client = createClient({
      ...{ baseUrl, ...KEYS, maxAttempts: 1, onResponse: (report) => void reports.push(report) },
      fetch: async (url, init) => {
        const { headers } = new Request(url, init);
        const echo = JSON.stringify([[...headers], url, SECRETS.phone, SECRETS.name]);
        if (!echo.includes(KEYS.publicKey)) throw new Error('The echo does not contain the key.');
        return new Response(shaped(echo), { status });
      },
    });
    places[`core: the error of ${what}`] = await thrownBy(() => client.getWalletBalances());
    places[`core: onResponse of ${what}`] = everythingIn(reports);
  }
  return places;
}
