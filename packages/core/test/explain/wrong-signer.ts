import { createHmac } from 'node:crypto';
import type { ExplainedRequest } from '../../src/explain/index.ts';
import { callbackData, SIGNING_KEY, T } from '../signed-callbacks.ts';

/** The public and the secret key of the account, which sign nothing. */
export const PUBLIC_KEY = 'PUBnL8cV2bM5qW9eR3tY6uI0pAs4Df7G';
export const SECRET_KEY = 'SECh7Jk1Lz4Xc8Vb2Nm6Qw0Er5Ty9Ui3';

type Data = Readonly<Record<string, unknown>>;

/** The message of a correct signer, written out again: nothing here comes from the code under test. */
export function messageOf(data: Data): string {
  const payload = data['payload'] as Data;
  const names = ['merchant_reference', 'internal_reference', 'transaction_type', 'transaction_status'];
  return [data['event'], ...names.map((name) => payload[name])].join(':');
}

export function hmac(message: string, key: string | Buffer = SIGNING_KEY): string {
  return createHmac('sha256', key).update(message, 'utf8').digest('hex');
}

/** A request with the signature `t=…,s=…` of this hash. */
export function signed(
  body: ExplainedRequest['body'],
  hash: string,
  t: string | number = T,
): ExplainedRequest {
  return request(body, `t=${t},s=${hash}`);
}

export function request(
  body: ExplainedRequest['body'],
  signature: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): ExplainedRequest {
  const own = signature === undefined ? {} : { 'hmac-signature': signature };
  return { method: 'POST', headers: { 'content-type': 'application/json', ...own, ...headers }, body };
}

/** The ordinary callback, and its text with another payload. */
export const DATA: ReturnType<typeof callbackData> = callbackData();
export const BODY: string = JSON.stringify(DATA);

export function bodyWith(payload: Data): string {
  return JSON.stringify(callbackData(payload));
}
