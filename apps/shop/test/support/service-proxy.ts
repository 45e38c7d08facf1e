import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy between a shop and its sandbox. */
export interface ServiceProxy {
  readonly baseUrl: string;
  /** Call it with the address of the sandbox, before any request. */
  readonly leadTo: (sandboxOrigin: string) => void;
  /** The payment pages of started payments, oldest first. */
  readonly started: readonly string[];
}

const PASSED_ON = ['content-type', 'accept', 'public-key', 'secret-key'];

/**
 * Passes everything through, and lets the test decide about the response to the start of a payment, which is under way by then.
 * Closed when the test has finished.
 */
export async function openServiceProxy(onStart: () => Promise<'answer' | 'lose'>): Promise<ServiceProxy> {
  let target = '';
  let baseUrl = '';
  const started: string[] = [];
  const server = createServer(async (request, response) => {
    const answer = await fetch(target + request.url, { ...(await copyOf(request)), redirect: 'manual' });
    const text = (await answer.text()).replaceAll(target, baseUrl);
    const [, page] = /"payment_page_url":\s*"([^"]+)"/.exec(text) ?? [];
    if (page !== undefined) started.push(page);
    if (page !== undefined && (await onStart()) === 'lose') {
      request.socket.destroy();
      return;
    }
    const type = answer.headers.get('content-type') ?? '';
    response.writeHead(answer.status, { 'content-type': type }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const leadTo = (sandboxOrigin: string): void => {
    target = sandboxOrigin;
  };
  return { baseUrl, started, leadTo };
}

async function copyOf(request: IncomingMessage): Promise<RequestInit> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = new Headers();
  for (const name of PASSED_ON) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const { method = 'GET' } = request;
  return { method, headers, ...(method === 'POST' ? { body: Buffer.concat(chunks) } : {}) };
}
