import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inUrl, SetupError } from '../config.ts';

export interface Served {
  /** For example http://127.0.0.1:3000. */
  readonly origin: string;
  /** Stops listening, lets requests in flight finish for a moment, then closes every connection. */
  close(): Promise<void>;
}

const GRACE_MS = 300;

/**
 * Listens with the request listener that a framework made from the shop.
 *
 * @param makeListener gets the origin, which with port 0 is only known while listening.
 * @throws {SetupError} if the port is taken or needs rights; the message names it and the variable to set.
 */
export async function serve(
  { host, port }: { readonly host: string; readonly port: number },
  makeListener: (origin: string) => Promise<RequestListener>,
): Promise<Served> {
  // Until the shop is ready: an order page that was left open in a browser sends requests immediately, which must not hang.
  let listener: RequestListener = (_request, response) => {
    response.writeHead(503, { 'retry-after': '1' }).end();
  };
  const server = createServer((request, response) => listener(request, response));
  try {
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    throw explain(error, port);
  }
  try {
    const origin = `http://${inUrl(host)}:${(server.address() as AddressInfo).port}`;
    listener = await makeListener(origin);
    return { origin, close: () => close(server) };
  } catch (error) {
    await close(server);
    throw error;
  }
}

function explain(cause: unknown, port: number): unknown {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
  if (code === 'EADDRINUSE') return portTaken(port, 'PORT', cause);
  if (code !== 'EACCES') return cause;
  const text = `This user is not allowed to listen on port ${port}. Set a port above 1023, for example PORT=3000.`;
  return new SetupError(text, { cause });
}

/** @param variable the environment variable that sets this port. */
export function portTaken(port: number, variable: string, cause: unknown): SetupError {
  const other = port < 65_535 ? port + 1 : 3000;
  const message = `Port ${port} is in use. Stop the program that uses it, or set another port: ${variable}=${other}`;
  return new SetupError(message, { cause });
}

/** Browsers keep connections open: without the second step, a stop would wait for them. */
function close(server: Server): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  return new Promise((resolve) => server.close(() => resolve(clearTimeout(timer))));
}
