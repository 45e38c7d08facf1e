import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'vitest';
import type {
  AttemptReport,
  Client,
  ClientOptions,
  ClientWithSecretKey,
  Deviation,
  FetchInit,
  PayoutBank,
} from '../../src/client/client.ts';
import { createClient } from '../../src/client/create-client.ts';
import { listening } from '../listening.ts';
import { provider, publicKey, secretKey } from './wire-samples.ts';

/** Responds to one request of the client. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

interface ReceivedRequest {
  readonly method: string | undefined;
  /** The raw request target. */
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Resolves when either side has ended the exchange. */
  readonly closed: Promise<unknown>;
}

/** A real HTTP server on the loopback interface for one test, a client for it with both keys, and that client's reports. */
export interface Served {
  readonly baseUrl: string;
  readonly requests: ReceivedRequest[];
  readonly client: ClientWithSecretKey;
  readonly deviations: Deviation[];
  readonly reports: AttemptReport[];
}

/** Each request gets the next response; the last one repeats. */
export async function serve(
  answers: Answer | readonly Answer[],
  options: Partial<ClientOptions> = {},
): Promise<Served> {
  const requests: ReceivedRequest[] = [];
  const all = [answers].flat();
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const answer = all[Math.min(requests.length, all.length - 1)];
    requests.push({ method, url, headers, closed: once(response, 'close') });
    answer?.(response, request);
  });
  const baseUrl = `http://127.0.0.1:${await listening(server)}`;
  return { baseUrl, requests, ...clientAt(baseUrl, options) };
}

/** A client with both keys, and its reports. */
export function clientAt(
  baseUrl: string = 'http://127.0.0.1:1',
  options: Partial<ClientOptions> = {},
): Pick<Served, 'client' | 'deviations' | 'reports'> {
  const deviations: Deviation[] = [];
  const reports: AttemptReport[] = [];
  const onDeviation = (deviation: Deviation): void => void deviations.push(deviation);
  const onResponse = (report: AttemptReport): void => void reports.push(report);
  const hooks = { onDeviation, onResponse };
  return {
    client: createClient({ baseUrl, publicKey, secretKey, ...hooks, ...options }),
    deviations,
    reports,
  };
}

/** A client whose requests are answered by this function. */
export const clientWith = (
  fetch: ClientOptions['fetch'],
  options: Partial<ClientOptions> = {},
): ClientWithSecretKey => clientAt('https://service.example', { fetch, ...options }).client;

/** The error of a call that must fail. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.fail('The call succeeded.'),
    (error: unknown) => error,
  );
}

type Call = (client: ClientWithSecretKey) => Promise<unknown>;
export const providersOf: Call = (client) => client.listPaymentProviders();
export const balances: Call = (client) => client.getWalletBalances();
export const banksOf = (client: Client): Promise<PayoutBank[]> =>
  client.listPayoutBanks({ provider_code: 'x' });

/** What came of one call to a service with these responses, and how many requests it took; by default, a list of providers. */
export async function attempt(
  answers: Answer | readonly Answer[],
  options: Partial<ClientOptions> = {},
  call: Call = providersOf,
): Promise<Served & { readonly found?: unknown; readonly error?: unknown; readonly sent: number }> {
  const served = await serve(answers, { timing: { random: () => 0 }, ...options });
  const outcome = await call(served.client).then(
    (found) => ({ found }),
    (error: unknown) => ({ error }),
  );
  return { ...served, ...outcome, sent: served.requests.length };
}

/** The error of such a call, which must fail. */
export async function failureWith(...given: Parameters<typeof attempt>): Promise<unknown> {
  const outcome = await attempt(...given);
  return 'error' in outcome ? outcome.error : expect.fail('The call succeeded.');
}

/** Runs a function once the headers of the response have arrived. */
export function fetchThen(happen: () => void): (url: string, init: FetchInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, init);
    setImmediate(happen);
    return response;
  };
}

export function reply(
  status: number,
  body: object | string,
  headers: Record<string, string | string[]> = {},
): Answer {
  const content = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(content);
  };
}

/** The envelope of a success (protocol §2.1). */
export function success(data: unknown): Answer {
  return reply(200, successBody(data));
}

export function successBody(data: unknown): Record<string, unknown> {
  return { code: 200, status: 'success', message: 'Request completed successfully', data };
}

/** The ordinary response to listPaymentProviders(). */
export const providers: Answer = success({ payment_providers: [provider] });

/** The envelope of an error (protocol §7). */
export function failure(status: number, headers: Record<string, string> = {}, message = 'not now'): Answer {
  return reply(status, { code: status, status: 'error', message, data: {} }, headers);
}

/** Sends the headers and half of a body. */
export function stall(status: number): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.write('{"code":');
  };
}

/** Breaks the connection before any response. */
export const reset: Answer = (_response, request) => {
  request.socket.resetAndDestroy();
};

/** Breaks the connection in the middle of the body. */
export function resetInBody(status: number): Answer {
  return (response, request) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"code":', () => request.socket.resetAndDestroy());
  };
}
