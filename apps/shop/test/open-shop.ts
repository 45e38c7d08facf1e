import { signCallback } from '@payment-service/core/testing';
import type { Inbox, TransitionSummary } from '@payment-service/inbox';
import { createSandbox, type Sandbox, type SandboxOptions } from '@payment-service/sandbox';
import { onTestFinished } from 'vitest';
import type { Transaction } from '../src/books/database.ts';
import { orderState } from '../src/books/order.ts';
import type { OrderStore } from '../src/books/order-store.ts';
import type { Keeping } from '../src/config.ts';
import { type Framework, startShop } from '../src/server/start-shop.ts';
import type { ShopParts } from '../src/shop.ts';
import { type Engine, newKeeping } from './new-keeping.ts';

export const FRAMEWORKS: readonly Framework[] = ['express', 'fastify', 'koa'];

/** Where payments are tested: every framework on SQLite, and one of them on PostgreSQL. */
export const STAGES: readonly { readonly framework: Framework; readonly engine: Engine }[] = [
  { framework: 'express', engine: 'sqlite' },
  { framework: 'fastify', engine: 'sqlite' },
  { framework: 'koa', engine: 'sqlite' },
  { framework: 'fastify', engine: 'postgres' },
];

/** For tests in which only the books matter: each engine once. */
export const ENGINES: typeof STAGES = STAGES.filter(
  ({ framework, engine }) => framework === 'koa' || engine === 'postgres',
);

/** A running shop beside a running sandbox, both on real sockets. */
export interface OpenShop {
  readonly origin: string;
  readonly sandbox: Sandbox;
  readonly sandboxOrigin: string;
  readonly orders: OrderStore;
  readonly inbox: Inbox<Transaction>;
  readonly log: readonly string[];
  /** Resolves when everything that was acknowledged has been processed. */
  readonly workedOff: () => Promise<void>;
  /** The state of an order when everything has been processed. */
  readonly stateOf: (reference: string) => Promise<string | undefined>;
  /** The transitions of the inbox when everything has been processed, newest first. */
  readonly transitions: () => Promise<readonly TransitionSummary[]>;
  /** Posts a callback that the test signs itself, as the service would, and returns the status. */
  readonly sendCallback: (data: CallbackData, signingKey?: string) => Promise<number>;
  /** Posts to the callback route with a signature that the test has obtained. */
  readonly postCallback: (data: CallbackData, signature: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

export interface CallbackData {
  readonly event: string;
  readonly payload: object;
}

interface OpenShopOptions extends ShopParts {
  readonly framework?: Framework;
  readonly engine?: Engine;
  /** An existing database instead of an empty one. */
  readonly keeping?: Keeping;
  readonly sandbox?: SandboxOptions;
  /** The signing key of the shop, instead of the account's own. */
  readonly signingKey?: string;
  /** The address of the shop for customers, instead of where it listens. */
  readonly shopUrl?: string;
  readonly confirmWithinMs?: number;
  readonly contact?: string;
  /** The address of the payment service, instead of the sandbox's. */
  readonly baseUrl?: string;
  /** Registers the function that closes it. Default: closed when the test has finished. */
  readonly closing?: (close: () => Promise<void>) => void;
}

/** A transition that waits for another body is rechecked: it is then due, and has an attempt that is taken back. */
function isUnderWay({ state, nextAt, attempts }: TransitionSummary): boolean {
  if (state === 'pending') return true;
  if (state === 'retrying' || nextAt === undefined) return false;
  return attempts > 0 || nextAt.getTime() <= Date.now();
}

export async function openShop(options: OpenShopOptions = {}): Promise<OpenShop> {
  const { framework = 'express', engine = 'sqlite', sandbox: rules, signingKey, baseUrl, ...parts } = options;
  const { closing = onTestFinished } = options;
  const keeping = options.keeping ?? (await newKeeping(engine, closing));
  const sandbox = createSandbox(rules);
  closing(() => sandbox.close());
  const { url: sandboxOrigin } = await sandbox.listen();
  const log: string[] = [];
  const config = {
    ...sandbox.account,
    ...(signingKey === undefined ? {} : { signingKey }),
    baseUrl: baseUrl ?? sandboxOrigin,
    host: '127.0.0.1',
    port: 0,
    shopUrl: options.shopUrl,
    confirmWithinMs: options.confirmWithinMs ?? 120_000,
    contact: options.contact ?? 'help@shop.example',
    keeping,
  };
  const shop = await startShop(framework, config, { log: (line) => log.push(line), ...parts });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= shop.close();
    return closed;
  };
  closing(close);
  const { inbox, orders } = shop.books;

  const postCallback: OpenShop['postCallback'] = async (data, signature) => {
    const response = await fetch(`${shop.origin}/payments/callbacks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'hmac-signature': signature },
      body: JSON.stringify(data),
    });
    await response.text();
    return response.status;
  };
  const workedOff = async (): Promise<void> => {
    // Only a hang leaves one of them spooled, pending, due or started. A slow disk puts callbacks into the spool.
    while ((await inbox.stats()).spooled > 0 || (await inbox.list({ limit: 1000 })).some(isUnderWay)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return {
    origin: shop.origin,
    sandbox,
    sandboxOrigin,
    orders,
    inbox,
    log,
    postCallback,
    sendCallback: (data, key = sandbox.account.signingKey) =>
      postCallback(data, signCallback({ signingKey: key, data })),
    workedOff,
    async stateOf(reference) {
      await workedOff();
      const order = await orders.find(reference);
      return order && orderState(order);
    },
    async transitions() {
      await workedOff();
      return inbox.list({ limit: 1000 });
    },
    close,
  };
}
