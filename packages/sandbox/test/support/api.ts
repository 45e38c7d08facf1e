import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { CollectionRequest, PayoutRequest, Sandbox } from '../../src/index.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Envelope;
}

interface Envelope {
  readonly code: number;
  readonly status: string;
  readonly message: string;
  readonly data: Record<string, unknown>;
}

/** The list in the data of a response. */
export function listOf({ body }: Answer): Record<string, unknown>[] {
  const list = Object.values(body.data).find((value) => Array.isArray(value));
  if (list === undefined) throw new Error('The answer has no list.');
  return list;
}

export const keysOf = ({ account }: Sandbox): Record<string, string> => ({
  'public-key': account.publicKey,
  'secret-key': account.secretKey,
});

/**
 * One request on its own socket: fetch would not let the Host header be set. With `chunks` and no content-length, Node sends
 * them chunked.
 */
export async function exchange(
  port: number | string,
  method: string,
  path: string,
  headers: Record<string, string>,
  chunks: readonly (string | Buffer)[] = [],
): Promise<{ status: number; text: string }> {
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
  // An error before the response rejects `answered`, and one after it changes nothing.
  sent.on('error', () => undefined);
  const answered = once(sent, 'response');
  // One after another, so that each is a separate chunk for the sandbox.
  for (const chunk of chunks) await new Promise<unknown>((resolve) => sent.write(chunk, resolve));
  sent.end();
  const [response] = await answered;
  return { status: response.statusCode, text: await text(response) };
}

/** Calls a sandbox without a socket, with both keys. */
export async function call(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = keysOf(sandbox),
): Promise<Answer> {
  const response = await sandbox.fetch(`http://127.0.0.1${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const parsed: Envelope = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, body: parsed };
}

/** A collection that passes every check. */
export const collection: CollectionRequest = {
  merchant_reference: 'ORD-1',
  amount: 500,
  currency: 'UGX',
  provider_code: 'example_mobile_money',
  account: '256772000001',
};

/** A payout that passes every check, once the wallet has the money. */
export const payout: PayoutRequest = {
  merchant_reference: 'PAY-1',
  amount: 1000,
  currency: 'UGX',
  provider_code: 'example_mobile_money',
  account: '256772000001',
};
