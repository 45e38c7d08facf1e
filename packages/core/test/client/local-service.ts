import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
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
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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

/** The error of a call that gets these responses; by default, of listing the payment providers. */
export async function failureWith(
  answers: Answer | readonly Answer[],
  options: Partial<ClientOptions> = {},
  call: (client: ClientWithSecretKey) => Promise<unknown> = (client) => client.listPaymentProviders(),
): Promise<unknown> {
  const { client } = await serve(answers, { timing: { random: () => 0 }, ...options });
  return failureOf(call(client));
}
export const balances = (client: ClientWithSecretKey): Promise<unknown> => client.getWalletBalances();
export const banksOf = (client: Client): Promise<PayoutBank[]> =>
  client.listPayoutBanks({ provider_code: 'x' });

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
  body: string | Buffer,
  headers: Record<string, string | string[]> = {},
): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };
}

export function replyJson(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return reply(status, JSON.stringify(body), headers);
}

/** The envelope of a success (protocol §2.1). */
export function success(data: unknown): Answer {
  return replyJson(200, successBody(data));
}

export function successBody(data: unknown): Record<string, unknown> {
  return { code: 200, status: 'success', message: 'Request completed successfully', data };
}

/** The ordinary response to listPaymentProviders(). */
export const providers: Answer = success({ payment_providers: [provider] });

/** The envelope of an error (protocol §7). */
export function failure(status: number, headers: Record<string, string> = {}, message = 'not now'): Answer {
  return replyJson(status, { code: status, status: 'error', message, data: {} }, headers);
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
