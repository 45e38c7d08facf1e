import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Answers one request of the client. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export interface ReceivedRequest {
  readonly method: string | undefined;
  /** The raw request target. */
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Resolves when either side has ended the exchange. */
  readonly closed: Promise<unknown>;
}

export interface LocalService {
  readonly baseUrl: string;
  readonly requests: ReceivedRequest[];
}

/** A real HTTP server on the loopback interface, for one test: each request gets the next answer, the last one repeats. */
export async function startService(...answers: Answer[]): Promise<LocalService> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push({ method, url, headers, closed: once(response, 'close') });
    answer?.(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, requests };
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

/** The envelope of an error (protocol §7). */
export function failure(status: number, headers: Record<string, string> = {}, message = 'not now'): Answer {
  return replyJson(status, { code: status, status: 'error', message, data: {} }, headers);
}

/** Sends nothing at all. */
export const silence: Answer = () => {};

/** Sends the headers and half of a body. */
export function stall(status: number): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.write('{"code":');
  };
}

/** Breaks the connection before anything was answered. */
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
