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
  const data = sampleCallback({
    payload: {
      merchant_reference: reference,
      internal_reference: `INT-${reference}`,
      customer_name: SECRETS.name,
      transaction_account: SECRETS.phone,
      ...change,
    },
  });
  const signature = signCallback({ signingKey: key, data });
  return {
    body: JSON.stringify(data),
    headers: { 'content-type': 'application/json', 'hmac-signature': signature },
  };
}

/** Objects, errors and responses of core. */
export async function corePlaces(): Promise<Places> {
  return { ...(await verifierPlaces()), ...(await clientPlaces()), ...(await redirectPlaces()) };
}

async function verifierPlaces(): Promise<Places> {
  const verifier = createVerifier({ signingKey });
  const { body, headers } = callbackOf('ORD-1');
  const signature = headers['hmac-signature'] ?? '';
  const refused: unknown[] = [];
  const refusedBy = (code: string, given: object): void => {
    const outcome = verifier.verifyCallback({ body, signature, ...given });
    if (outcome.ok) throw new Error(`${code} was accepted.`);
    refused.push(outcome);
  };
  refusedBy('another key', {
    signature: callbackOf('ORD-1', {}, 'another-key-of-some-length').headers['hmac-signature'],
  });
  refusedBy('a body that is cut', { body: body.slice(0, -9) });
  refusedBy('a signature of the key', { signature: signingKey });
  refusedBy('a field without a value', { body: body.replace('"COLLECTION"', 'null') });
  refusedBy('a name as a reference', { body: body.replace('ORD-1', SECRETS.name) });
  const accepted = verifier.verifyCallback({ body, signature });
  if (!accepted.ok) throw new Error(`The genuine callback was refused: ${accepted.code}.`);
  const places: Places = {
    'core: a verifier': everythingIn(verifier),
    'core: refusals': everythingIn(refused),
    'core: an accepted callback': everythingIn(accepted),
    'core: assertAmount() of another amount': await thrownBy(() =>
      assertAmount(accepted, { currency: 'UGX', amount: '999' }),
    ),
    'core: a receiver': everythingIn(createCallbackReceiver({ signingKey, onCallback: () => undefined })),
  };
  for (const [what, key] of [
    ['with spaces', ` ${signingKey} `],
    ['with a line break', `${signingKey}\n`],
    ['in a list twice', [signingKey, signingKey]],
  ] as const)
    places[`core: the error of a signing key ${what}`] = await thrownBy(() =>
      createVerifier({ signingKey: key as string }),
    );
  return places;
}

/** A hostile service's responses to a client, which echo its request. */
const ECHOES: readonly (readonly [what: string, listener: RequestListener])[] = [
  ['a 401 that quotes the keys', (request, response) => response.writeHead(401).end(echo(request))],
  ['a 500 page', (request, response) => response.writeHead(500).end(`<pre>${echo(request)}</pre>`)],
  ['a 200 that is not JSON', (request, response) => response.end(echo(request))],
  ['a 200 with rows of another shape', (request, response) => response.end(rowsOf(echo(request)))],
  ['a reset', (request) => request.socket.destroy()],
];

function echo({ headers, url }: { readonly headers: object; readonly url?: string | undefined }): string {
  return JSON.stringify([headers, url, SECRETS.phone, SECRETS.name]);
}

function rowsOf(echoed: string): string {
  return JSON.stringify({ code: 200, message: echoed, data: [echoed] });
}

async function clientPlaces(): Promise<Places> {
  const places: Places = {};
  for (const [what, listener] of ECHOES) {
    const baseUrl = await listen(listener);
    const reports: AttemptReport[] = [];
    const onResponse = (report: AttemptReport): void => void reports.push(report);
    const client = createClient({ baseUrl, ...KEYS, maxAttempts: 1, onResponse });
    places['core: a client'] = everythingIn(client);
    places[`core: the error of ${what}`] = await thrownBy(() => client.getWalletBalances());
    places[`core: onResponse of ${what}`] = everythingIn(reports);
  }
  for (const [option, value] of [
    ['publicKey', `${KEYS.publicKey}\n`],
    ['secretKey', ` ${KEYS.secretKey}`],
    ['baseUrl', `http://${KEYS.secretKey}@127.0.0.1/`],
  ] as const)
    places[`core: the error of the option ${option}`] = await thrownBy(() =>
      createClient({ baseUrl: 'http://127.0.0.1:1', ...KEYS, [option]: value }),
    );
  return places;
}

/** What other servers receive when the service redirects the client to them. */
async function redirectPlaces(): Promise<Places> {
  const places: Places = {};
  let heard = '';
  const note: RequestListener = (request, response) => {
    heard += `${request.url} ${JSON.stringify(request.rawHeaders)}`;
    response.end('{"code":200,"message":"","data":[]}');
  };
  const other = await listen(note);
  for (const status of [301, 302, 303, 307, 308]) {
    for (const target of [other, other.replace('127.0.0.1', 'localhost'), other.replace('http:', '')]) {
      heard = '';
      const baseUrl = await listen((_, response) => response.writeHead(status, { location: target }).end());
      const client = createClient({ baseUrl, ...KEYS, maxAttempts: 1 });
      await thrownBy(() => client.getWalletBalances());
      const where = new URL(target, baseUrl).hostname + (target.startsWith('//') ? ', without a scheme' : '');
      places[`core: the target of a ${status} to ${where}`] = `heard: ${heard}`;
    }
  }
  const control = await listen((_, response) => response.writeHead(307, { location: other }).end());
  heard = '';
  await fetch(control, { headers: { 'x-control': SECRETS['secret key'] } });
  places['control: a fetch that follows a redirect'] = heard;
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
