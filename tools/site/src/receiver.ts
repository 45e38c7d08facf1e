import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const ANSWERS: Readonly<Record<string, readonly [status: number, type: string, body: string]>> = {
  '/payments/callbacks': [200, 'application/json', '{"status":"accepted"}'],
  '/failing': [500, 'text/plain', 'Internal Server Error'],
  '/page': [200, 'text/html', '<!doctype html><title>My shop</title>'],
};

/** A merchant's server with good and bad routes; 404 everywhere else. */
export async function startReceiver(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    request.resume();
    const [status, type, body] = ANSWERS[request.url ?? ''] ?? [404, 'text/plain', 'Not Found'];
    response.writeHead(status, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
