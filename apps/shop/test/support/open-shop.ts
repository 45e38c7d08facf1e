import { sampleCallback, signCallback } from '@payment-service/core/testing';
import type { Inbox, TransitionSummary } from '@payment-service/inbox';
import { createSandbox, type Sandbox, type SandboxOptions } from '@payment-service/sandbox';
import { onTestFinished } from 'vitest';
import type { Transaction } from '../../src/books/database.ts';
import { orderState } from '../../src/books/order.ts';
import type { OrderStore } from '../../src/books/order-store.ts';
import type { Keeping, ShopConfig } from '../../src/config.ts';
import { type Framework, startShop } from '../../src/server/start-shop.ts';
import type { ShopParts } from '../../src/shop.ts';
import { Customer, type PlacedOrder } from './customer.ts';
import { type Engine, newKeeping } from './new-keeping.ts';

export const FRAMEWORKS: readonly Framework[] = ['express', 'fastify', 'koa'];

/** Each engine once: same-behaviour.test.ts compares the frameworks. */
export const ENGINES: readonly { readonly framework: Framework; readonly engine: Engine }[] = [
  { framework: 'koa', engine: 'sqlite' },
  { framework: 'fastify', engine: 'postgres' },
];

/** A sandbox whose callbacks are late: the test advances its clock by an hour. */
export const LATE: SandboxOptions = { misbehave: { late_ms: 3_600_000 } };

/** A running shop and a running sandbox, both on real sockets. */
export interface OpenShop {
  readonly origin: string;
  readonly sandbox: Sandbox;
  readonly sandboxOrigin: string;
  readonly orders: OrderStore;
  readonly inbox: Inbox<Transaction>;
  readonly log: readonly string[];
  /** The state of an order once everything that was acknowledged has been processed. */
  readonly stateOf: (reference: string) => Promise<string | undefined>;
  /** The same after a callback, which must be acknowledged. */
  readonly stateAfter: (reference: string, payload?: object) => Promise<string | undefined>;
  /** The transitions of the inbox once everything has been processed, newest first. */
  readonly transitions: () => Promise<readonly TransitionSummary[]>;
  /** Posts the callback of an order of 18,000 UGX with these changes, signed as the service would, and returns the status. */
  readonly sendCallback: (reference: string, payload?: object, signingKey?: string) => Promise<number>;
  /** Posts to the callback route with a signature that the test has obtained. */
  readonly postCallback: (data: object, signature: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

interface OpenShopOptions extends ShopParts, Partial<Omit<ShopConfig, 'keeping'>> {
  readonly framework?: Framework;
  readonly engine?: Engine;
  /** An existing database instead of an empty one. */
  readonly keeping?: Keeping;
  readonly sandbox?: SandboxOptions;
  /** Registers the function that closes it. Default: closed when the test has finished. */
  readonly closing?: (close: () => Promise<void>) => void;
}

/** The genuine callback for an order of 18,000 UGX. */
export function genuine(reference: string, payload: object = {}): ReturnType<typeof sampleCallback> {
  const references = { merchant_reference: reference, internal_reference: 'INT-1' };
  return sampleCallback({ payload: { ...references, ...amounts(18_000), ...payload } });
}

/** Posts a callback to the shop at this origin, and returns the status. */
async function post(origin: string, data: object, signature: string): Promise<number> {
  const response = await fetch(`${origin}/payments/callbacks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'hmac-signature': signature },
    body: JSON.stringify(data),
  });
  await response.text();
  return response.status;
}

/** The same with a genuine callback signed with this key. */
export function sendGenuine(
  origin: string,
  signingKey: string,
  reference: string,
  payload?: object,
): Promise<number> {
  const data = genuine(reference, payload);
  return post(origin, data, signCallback({ signingKey, data }));
}

/** Both amounts of a callback. */
export function amounts(amount: number): { request_amount: number; transaction_amount: number } {
  return { request_amount: amount, transaction_amount: amount };
}

export async function openShop(options: OpenShopOptions = {}): Promise<OpenShop> {
  const { framework = 'express', engine = 'sqlite', sandbox: rules, ...parts } = options;
  const { closing = onTestFinished } = options;
  const keeping = options.keeping ?? (await newKeeping(engine, closing));
  const sandbox = createSandbox(rules);
  closing(() => sandbox.close());
  const { url: sandboxOrigin } = await sandbox.listen();
  const log: string[] = [];
  const config: ShopConfig = {
    ...sandbox.account,
    ...{ baseUrl: sandboxOrigin, host: '127.0.0.1', port: 0, shopUrl: undefined },
    ...{ confirmWithinMs: 120_000, contact: 'help@shop.example', ...parts, keeping },
  };
  const shop = await startShop(framework, config, { log: (line) => log.push(line), ...parts });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= shop.close();
    return closed;
  };
  closing(close);
  const { inbox, orders } = shop.books;

  const transitions: OpenShop['transitions'] = async () => {
    // Only a hang leaves one of them spooled, pending, due or started. A slow disk puts callbacks into the spool.
    while ((await inbox.stats()).spooled > 0 || (await inbox.list({ limit: 1000 })).some(isUnderWay)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return inbox.list({ limit: 1000 });
  };
  const stateOf: OpenShop['stateOf'] = async (reference) => {
    await transitions();
    const order = await orders.find(reference);
    return order && orderState(order);
  };
  return {
    ...{ origin: shop.origin, sandbox, sandboxOrigin, orders, inbox, log, transitions, close },
    postCallback: (data, signature) => post(shop.origin, data, signature),
    sendCallback: (reference, payload, signingKey = sandbox.account.signingKey) =>
      sendGenuine(shop.origin, signingKey, reference, payload),
    stateOf,
    async stateAfter(reference, payload) {
      const status = await sendGenuine(shop.origin, sandbox.account.signingKey, reference, payload);
      if (status !== 200) throw new Error(`The callback was answered with ${status}.`);
      return stateOf(reference);
    },
  };
}

/** A shop, and a customer who has placed an order. */
export async function openOrder(
  options: OpenShopOptions = {},
  form?: Readonly<Record<string, string>>,
): Promise<PlacedOrder & { readonly shop: OpenShop; readonly customer: Customer }> {
  const shop = await openShop(options);
  const customer = new Customer(shop);
  return { shop, customer, ...(await customer.placeOrder(form)) };
}

/** An attempt that a new body overtakes is taken back, and made again this much later. */
const AGAIN_MS = 200;

/** A transition that waits for another body is rechecked: it is then due, and has an attempt that is taken back. */
function isUnderWay({ state, nextAt, attempts }: TransitionSummary): boolean {
  if (state === 'pending') return true;
  if (state === 'retrying' || nextAt === undefined) return false;
  return attempts > 0 || nextAt.getTime() <= Date.now() + AGAIN_MS;
}
