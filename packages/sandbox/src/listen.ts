import { ConfigurationError } from '@payment-service/core';
import { isLoopback } from './loopback.ts';

/** An address that the sandbox answers on. */
export interface Listening {
  /** Such as `http://127.0.0.1:4010`, without a slash at the end. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Stops listening there. Requests in flight have two seconds to end. Safe to call twice. */
  close(): Promise<void>;
}

const GRACE_MS = 2000;

/** Serves a web-standard handler on this computer. Loads Node's server only here, so that the rest works everywhere. */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  port: number,
  host: string,
): Promise<Listening> {
  if (!isLoopback(host.includes(':') ? `[${host}]` : host)) {
    throw new ConfigurationError(
      'host',
      'The sandbox listens on this computer only: 127.0.0.1, ::1 or localhost.',
    );
  }
  const { createAdaptorServer } = await import('@hono/node-server');
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      const message = `Port ${port} on ${host} is taken by another program. Choose another port, or 0 for any free one.`;
      reject(new ConfigurationError('port', message, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const force = setTimeout(() => {
        if ('closeAllConnections' in server) server.closeAllConnections();
      }, GRACE_MS);
      server.close((error) => {
        clearTimeout(force);
        if (error === undefined) resolve();
        else reject(error);
      });
      if ('closeIdleConnections' in server) server.closeIdleConnections();
    });
  return {
    host,
    port: bound,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
