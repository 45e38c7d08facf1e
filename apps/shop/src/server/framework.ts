import type { RequestListener } from 'node:http';
import { parseArgs } from 'node:util';
import { SetupError } from '../config.ts';
import type { Shop } from '../shop.ts';

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
