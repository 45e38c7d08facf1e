import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentServiceError } from '@payment-service/core';
import { type Books, openBooks } from '../books/books.ts';
import { SetupError, type ShopConfig } from '../config.ts';
import { createShop, type ShopParts } from '../shop.ts';
import { errorText } from '../web/page.ts';
import { mountOnExpress } from './express.ts';
import { mountOnFastify } from './fastify.ts';
import { mountOnKoa } from './koa.ts';

export interface RunningShop {
  /** The name of its framework. */
  readonly title: string;
  /** For example http://127.0.0.1:3000. */
  readonly origin: string;
  readonly books: Books;
  /** The addresses of its pages, for tests of every page. The console below /owner/inbox has its own. */
  readonly addresses: readonly string[];
  /** Accepts no further requests, lets those in flight and the running handler finish, and closes the books. */
  close(): Promise<void>;
}

/** Browsers keep connections open: after this long, a stop waits for none of them. */
const GRACE_MS = 300;

/**
 * Opens the books, listens, and works on callbacks.
 *
 * @throws {SetupError} for a problem that the person who starts it can fix.
 */
export async function startShop(
  framework: Framework,
  config: ShopConfig,
  parts: ShopParts = {},
): Promise<RunningShop> {
  const { host, port } = config;
  const { now = Date.now, log = console.log } = parts;
  const books = await openBooks(config.file, now, log);
  // The origin is known only while it listens: an order page that was left open in a browser then waits for the shop.
  const ready = Promise.withResolvers<RequestListener>();
  const serve: RequestListener = async (request, response) => {
    try {
      await (await ready.promise)(request, response);
    } catch (error) {
      // A framework answers its own errors: this one would end the process (threat A62).
      log(errorText(error));
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    }
  };
  const server = createServer((request, response) => void serve(request, response));
  const close = async (): Promise<void> => {
    setTimeout(() => server.closeAllConnections(), GRACE_MS).unref();
    await new Promise((resolve) => server.close(resolve));
    await books.close();
  };
  try {
    await once(server.listen(port, host), 'listening');
    const name = host.includes(':') ? `[${host}]` : host;
    const origin = `http://${name}:${(server.address() as AddressInfo).port}`;
    const shop = createShop({ ...config, origin, shopUrl: config.shopUrl ?? origin }, books, parts);
    const mount = { express: mountOnExpress, fastify: mountOnFastify, koa: mountOnKoa }[framework];
    ready.resolve(await mount(shop));
    const title = framework.replace(/^./, (letter) => letter.toUpperCase());
    const read = shop.routes.filter(({ method, path }) => method === 'get' && !path.startsWith('/assets/'));
    return { title, origin, books, addresses: read.map(({ path }) => path), close };
  } catch (error) {
    await close();
    throw portError(error, port, 'PORT');
  }
}

/** @param variable the environment variable that sets this port. */
export function portError(error: unknown, port: number, variable: string): unknown {
  const cause = error instanceof PaymentServiceError ? error.cause : error;
  const { code } = Object(cause);
  const problems: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} is in use. Stop the program that uses it, or set another port: ${variable}=${port + 1}`,
    EACCES: `This user is not allowed to listen on port ${port}. Set a port above 1023, for example ${variable}=3000.`,
  };
  return problems[code] === undefined ? error : new SetupError(problems[code], { cause });
}

const FRAMEWORKS = ['express', 'fastify', 'koa'] as const;
export type Framework = (typeof FRAMEWORKS)[number];

/**
 * Reads `--framework express|fastify|koa`, express without it.
 *
 * @throws {SetupError} for any other argument.
 */
export function readFramework(args: readonly string[]): Framework {
  // `pnpm start -- --framework koa` also passes the two dashes through.
  const own = args.join(' ').replace(/^--( |$)/, '') || '--framework=express';
  const found = FRAMEWORKS.find((name) => own.replace(' ', '=') === `--framework=${name}`);
  if (found !== undefined) return found;
  const usage = 'Use --framework express, --framework fastify or --framework koa.';
  throw new SetupError(`Unknown arguments: ${own}. ${usage}`);
}
