import type { RequestListener } from 'node:http';
import { parseArgs } from 'node:util';
import { type Books, openBooks } from '../books/books.ts';
import { SetupError, type ShopConfig } from '../config.ts';
import { createShop, type Shop, type ShopParts } from '../shop.ts';
import { type Served, serve } from './serve.ts';

export interface RunningShop extends Served {
  readonly books: Books;
}

/**
 * Opens the books, listens, and works on callbacks. `close()` accepts no further requests, lets the running handler finish, and
 * closes the books.
 *
 * @throws {SetupError} for a problem that the person who starts it can fix.
 */
export async function startShop(
  framework: Framework,
  config: ShopConfig,
  parts: ShopParts = {},
): Promise<RunningShop> {
  const { now = Date.now, log = console.log } = parts;
  const books = await openBooks(config.keeping, { now, log });
  try {
    const served = await serve(config, async (origin) => {
      const own = { ...config, origin, shopUrl: config.shopUrl ?? origin };
      return FRAMEWORKS[framework].mount(createShop(own, books, { ...parts, now, log }));
    });
    return {
      origin: served.origin,
      books,
      async close() {
        await served.close();
        await books.close();
      },
    };
  } catch (error) {
    await books.close();
    throw error;
  }
}

export type Framework = 'express' | 'fastify' | 'koa';

interface Mount {
  readonly title: string;
  /** Loads only this framework. */
  readonly mount: (shop: Shop) => Promise<RequestListener>;
}

export const FRAMEWORKS: Readonly<Record<Framework, Mount>> = {
  express: { title: 'Express', mount: async (shop) => (await import('./express.ts')).mountOnExpress(shop) },
  fastify: { title: 'Fastify', mount: async (shop) => (await import('./fastify.ts')).mountOnFastify(shop) },
  koa: { title: 'Koa', mount: async (shop) => (await import('./koa.ts')).mountOnKoa(shop) },
};

/**
 * Reads `--framework express|fastify|koa`, express without it.
 *
 * @throws {SetupError} for any other argument.
 */
export function readFramework(args: readonly string[]): Framework {
  const usage = 'Use --framework express, --framework fastify or --framework koa.';
  // `pnpm start -- --framework koa` also passes the two dashes through.
  const own = args[0] === '--' ? args.slice(1) : [...args];
  const options = { framework: { type: 'string', default: 'express' } } as const;
  try {
    const { framework } = parseArgs({ args: own, options }).values;
    if (isFramework(framework)) return framework;
  } catch {
    // Reported in the same way as an unknown framework.
  }
  throw new SetupError(`Unknown arguments: ${own.join(' ')}. ${usage}`);
}

function isFramework(name: string): name is Framework {
  return Object.hasOwn(FRAMEWORKS, name);
}
