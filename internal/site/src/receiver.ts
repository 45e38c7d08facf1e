import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A merchant's server with good and bad routes: `/payments/callbacks`, `/failing`, `/page`; 404 everywhere else. */
export async function startReceiver(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.resume();
    switch (request.url) {
      case '/payments/callbacks':
        response.setHeader('content-type', 'application/json').end('{"status":"accepted"}');
        break;
      case '/failing':
        response.writeHead(500).end('Internal Server Error');
        break;
      case '/page':
        response.setHeader('content-type', 'text/html').end('<!doctype html><title>My shop</title>');
        break;
      default:
        response.writeHead(404).end('Not Found');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
