import { sampleCallback, signCallback } from '@payment-service/core/testing';

export const SIGNING_KEY = 'CONFORMANCE7Kq2SigningKey';
export const OTHER_KEY = 'CONFORMANCE9Xw4OtherKey';
/** The key of most vectors of the contract. */
export const VECTOR_KEY = 'Zq8sT4vLm2XwRk7PbN5cJd9HfGy3Ua6e';
export const CALLBACK_PATH = '/payments/callbacks';
export const REDIRECT_PATH = '/payments/return';
/** `t` of every signature here, in seconds; scenarios about tolerance set their clock by it. */
export const SIGNED_AT = 1_763_700_000;

type CallbackData = Parameters<typeof signCallback>[0]['data'];

/** A string is one value, a list repeats the name, undefined omits it. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The value of `hmac-signature`, as computed by the service. */
export function signature(data: CallbackData = sampleCallback(), signingKey: string = SIGNING_KEY): string {
  return signCallback({ signingKey, data, timestamp: SIGNED_AT });
}

/** The part of the genuine signature after `s=`. */
export const HASH: string = signature().replace(/^.*s=/, '');

type Payload = NonNullable<NonNullable<Parameters<typeof sampleCallback>[0]>['payload']>;

/** The JSON text of the sample. */
export const TEXT: string = JSON.stringify(sampleCallback());

/** The sample with other fields in its payload. */
export function payload(fields: Payload): CallbackData {
  return sampleCallback({ payload: fields });
}

interface CallbackRequest {
  readonly method?: string;
  readonly path?: string;
  /** The signed data; also the body, unless `body` says otherwise. */
  readonly data?: CallbackData;
  readonly body?: string | Uint8Array;
  readonly headers?: Headers;
}

/** The parts shared by HTTP/1.1 and HTTP/2: a method, a target, headers and a body. */
export interface Message {
  readonly method: string;
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** The bytes of a message in HTTP/1.1. */
export function bytesOf({ method, target, headers, body }: Message): Buffer {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}`),
  );
  const head = `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}

/** A callback with a declared length. */
export function callbackMessage({ data = sampleCallback(), ...request }: CallbackRequest): Message {
  const { method = 'POST', path: target = CALLBACK_PATH, headers } = request;
  const body = Buffer.from(request.body ?? JSON.stringify(data));
  const own = {
    host: 'shop.example',
    'content-type': 'application/json',
    'hmac-signature': signature(data),
    'content-length': String(body.length),
  };
  return { method, target, headers: { ...own, ...headers }, body };
}

export function callbackRequest(request: CallbackRequest = {}): Buffer {
  return bytesOf(callbackMessage(request));
}

/** A callback request with these headers instead of its own. */
export function headed(headers: Headers): Buffer {
  return callbackRequest({ headers });
}

/** A genuine callback without its signature. */
export const UNSIGNED_REQUEST: Buffer = headed({ 'hmac-signature': undefined });

/** The head alone, for bodies that are sent separately or never. */
export function callbackHead(headers: Headers, request: CallbackRequest = {}): Buffer {
  return callbackRequest({ ...request, body: '', headers: { 'content-length': undefined, ...headers } });
}

/** A callback request with a chunked body; each chunk is a separate write. */
export function chunkedCallbackRequest(
  chunks: readonly (string | Uint8Array)[],
  { headers, ...request }: CallbackRequest = {},
): Buffer[] {
  const framed = [...chunks, ''].map((chunk) => {
    const bytes = Buffer.from(chunk);
    return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  });
  return [callbackHead({ 'transfer-encoding': 'chunked', ...headers }, request), ...framed];
}

/** The JSON text of a genuine callback, padded to an exact number of bytes with an unknown field. */
export function paddedBody(bytes: number, filler = 'x'): string {
  const data = sampleCallback();
  const room = bytes - Buffer.byteLength(JSON.stringify({ ...data, filler: '' }));
  const count = Math.floor(room / Buffer.byteLength(filler));
  const rest = 'x'.repeat(room - count * Buffer.byteLength(filler));
  return JSON.stringify({ ...data, filler: filler.repeat(count) + rest });
}

/** A redirect: the customer's browser with this raw query. */
export function redirectMessage(query: string, method = 'GET', headers: Headers = {}): Message {
  const target = `${REDIRECT_PATH}${query}`;
  return { method, target, headers: { host: 'shop.example', ...headers }, body: Buffer.alloc(0) };
}

export function redirectRequest(...redirect: Parameters<typeof redirectMessage>): Buffer {
  return bytesOf(redirectMessage(...redirect));
}

/** The flat query of a redirect, signed; each entry can be replaced by a raw one. */
export function redirectQuery(data: CallbackData = sampleCallback(), signingKey?: string): string {
  const { event, payload } = data;
  const pairs = Object.entries({ event, ...payload, hmac_signature: signature(data, signingKey) });
  return `?${pairs.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`;
}
