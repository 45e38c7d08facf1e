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
  let books: Books | undefined;
  try {
    const served = await serve(config, async (origin) => {
      books = await openBooks(config.keeping, { now, log });
      const shop = createShop({ ...config, origin, shopUrl: config.shopUrl ?? origin }, books, {
        ...parts,
        now,
        log,
      });
      return mount(framework, shop);
    });
    const opened = books as Books | undefined;
    if (opened === undefined) throw new Error('The shop listens, but its books are not open.');
    return {
      origin: served.origin,
      books: opened,
      async close() {
        await served.close();
        await opened.close();
      },
    };
  } catch (error) {
    await (books as Books | undefined)?.close();
    throw error;
  }
}

export type Framework = 'express' | 'fastify' | 'koa';

interface Mount {
  readonly title: string;
  /** Loads only this framework. */
  readonly load: () => Promise<(shop: Shop) => RequestListener | Promise<RequestListener>>;
}

export const FRAMEWORKS: Readonly<Record<Framework, Mount>> = {
  express: { title: 'Express', load: async () => (await import('./express.ts')).mountOnExpress },
  fastify: { title: 'Fastify', load: async () => (await import('./fastify.ts')).mountOnFastify },
  koa: { title: 'Koa', load: async () => (await import('./koa.ts')).mountOnKoa },
};

export async function mount(framework: Framework, shop: Shop): Promise<RequestListener> {
  const onto = await FRAMEWORKS[framework].load();
  return onto(shop);
}

/**
 * Reads `--framework express|fastify|koa`, express without it.
 *
 * @throws {SetupError} for any other argument.
 */
export function readFramework(args: readonly string[]): Framework {
  const usage = 'Use --framework express, --framework fastify or --framework koa.';
  // `pnpm start -- --framework koa` also passes the two dashes through.
  const own = args[0] === '--' ? args.slice(1) : [...args];
  let framework: string;
  try {
    framework = parseArgs({ args: own, options: { framework: { type: 'string', default: 'express' } } })
      .values.framework;
  } catch (cause) {
    throw new SetupError(`Unknown arguments: ${own.join(' ')}. ${usage}`, { cause });
  }
  if (!isFramework(framework)) throw new SetupError(`There is no shop on "${framework}". ${usage}`);
  return framework;
}

function isFramework(name: string): name is Framework {
  return Object.hasOwn(FRAMEWORKS, name);
}
