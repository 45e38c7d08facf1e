import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A proxy between a shop and its sandbox. */
export interface ServiceProxy {
  readonly baseUrl: string;
  /** Call this with the sandbox's address, before any request. */
  readonly leadTo: (sandboxOrigin: string) => void;
  /** The payment pages of started payments, oldest first. */
  readonly started: readonly string[];
}

/**
 * Passes everything through, except that the test decides about the response to the start of a payment, which is then under
 * way. Closed when the test has finished.
 */
export async function openServiceProxy(
  onStart: () => Promise<'answer' | 'lose' | 'lead elsewhere'>,
): Promise<ServiceProxy> {
  let target = '';
  let baseUrl = '';
  const started: string[] = [];
  const server = createServer((asked, response) => {
    const { method, headers } = asked;
    const passed = request(target + asked.url, {
      method,
      headers: { ...headers, host: new URL(target).host },
    });
    passed.on('response', async (answer) => {
      const content = await text(answer);
      const own = content.replaceAll(target, baseUrl);
      const [, page] = /"payment_page_url":\s*"([^"]+)"/.exec(own) ?? [];
      if (page !== undefined) started.push(page);
      const outcome = page === undefined ? 'answer' : await onStart();
      if (outcome === 'lose') return void asked.socket.destroy();
      const type = answer.headers['content-type'] ?? '';
      const head = response.writeHead(answer.statusCode ?? 0, { 'content-type': type });
      head.end(outcome === 'answer' ? own : content);
    });
    asked.pipe(passed);
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
