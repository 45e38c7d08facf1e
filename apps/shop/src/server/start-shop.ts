import { type Books, openBooks } from '../books/books.ts';
import type { ShopConfig } from '../config.ts';
import { createShop, type ShopParts } from '../shop.ts';
import { type Framework, mount } from './framework.ts';
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
    if (opened === undefined) throw new Error('It listens without books.');
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
