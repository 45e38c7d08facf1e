import { ConfigurationError, InvalidStateError } from '@payment-service/core';
import { isLoopback } from '@payment-service/core/internal';

/** An address of the sandbox. */
export interface Listening {
  /** Such as `http://127.0.0.1:4010`, without a slash at the end; the loopback address where `host` is 0.0.0.0 or ::. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Stops listening there. Requests in flight have two seconds to finish. Safe to call twice. */
  close(): Promise<void>;
}

const GRACE_MS = 2000;
const WILDCARDS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** Errors for a host that is not an address of this computer. */
const NOT_AN_ADDRESS = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'];

/** How a URL writes a host. */
const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** The address for clients on this computer, which cannot connect to a wildcard address. */
export const urlOf = (host: string, port: number): string =>
  `http://${WILDCARDS[host] ?? inUrl(host)}:${port}`;

/**
 * Serves a web-standard handler. Beyond loopback only where the caller names the host, and with a warning. Loads Node's server
 * only here, so that the rest works everywhere.
 *
 * @throws {ConfigurationError} For a host that is not an address of this computer.
 * @throws {InvalidStateError} For a port that is in use.
 */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  port: number,
  host: string,
): Promise<Listening> {
  // Node reads an empty host, such as from an unset variable, as every address of the computer.
  if (host === '')
    throw new ConfigurationError('host', 'host must not be empty. Leave it out for 127.0.0.1.');
  const { createAdaptorServer } = await import('@hono/node-server');
  const server = createAdaptorServer({
    overrideGlobalObjects: false,
    fetch: async (request, { incoming }) => {
      const response = await fetch(request);
      if (response.type !== 'error') return response;
      // A network error is a connection that ends without an answer.
      incoming.socket?.destroy();
      return new Response();
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (NOT_AN_ADDRESS.includes(error.code ?? '')) {
        const message = `${host} is not an address of this computer. Leave host out for 127.0.0.1, or use 0.0.0.0 for all addresses.`;
        return reject(new ConfigurationError('host', message, { cause: error }));
      }
      if (error.code !== 'EADDRINUSE') return reject(error);
      const message = `Port ${port} on ${host} is taken by another program. Choose another port, or 0 for any free one.`;
      reject(new InvalidStateError(message, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  if (!isLoopback(inUrl(host))) {
    console.warn(
      `The sandbox listens on ${host}: anyone on the network can read its keys and move the simulated money.`,
    );
  }
  const address = server.address();
  const bound = typeof address === 'object' && address !== null ? address.port : port;
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const force = setTimeout(() => {
      if ('closeAllConnections' in server) server.closeAllConnections();
    }, GRACE_MS);
    // Closes idle connections as well.
    await server[Symbol.asyncDispose]();
    clearTimeout(force);
  };
  return {
    host,
    port: bound,
    url: urlOf(host, bound),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
