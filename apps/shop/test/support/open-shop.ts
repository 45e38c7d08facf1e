import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import type { TransitionSummary } from '@payment-service/inbox';
import { createSandbox, type Sandbox, type SandboxOptions } from '@payment-service/sandbox';
import { onTestFinished } from 'vitest';
import type { Books } from '../../src/books/books.ts';
import { orderState } from '../../src/books/order.ts';
import type { ShopConfig } from '../../src/config.ts';
import { type Framework, type RunningShop, startShop } from '../../src/server/start-shop.ts';
import type { ShopParts } from '../../src/shop.ts';
import { Customer, type PlacedOrder } from './customer.ts';

/** A sandbox whose callbacks are late: the test advances its clock by an hour. */
export const LATE: SandboxOptions = { misbehave: { late_ms: 3_600_000 } };

/** A running shop and a running sandbox, both on real sockets. */
export interface OpenShop extends Pick<Books, 'orders' | 'inbox'>, Pick<RunningShop, 'addresses'> {
  readonly origin: string;
  readonly sandbox: Sandbox;
  readonly sandboxOrigin: string;
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
  /** Runs SQL on the shop's file independently of the shop, and returns the rows of a query. */
  readonly execute: (text: string) => unknown[];
  readonly close: () => Promise<void>;
}

type Closing = (close: () => void | Promise<void>) => void;

interface OpenShopOptions extends ShopParts, Partial<ShopConfig> {
  readonly framework?: Framework;
  readonly sandbox?: SandboxOptions;
  /** Registers the function that closes it. Default: closed when the test has finished. */
  readonly closing?: Closing;
}

const TMPFS = 0x01021994;

/** A new database file on a disk, since the inbox refuses one in memory. Removed when the test has finished. */
export function newFile(closing: Closing = onTestFinished): string {
  const isMemory = process.platform === 'linux' && statfsSync(tmpdir()).type === TMPFS;
  const folder = mkdtempSync(join(isMemory ? '/var/tmp' : tmpdir(), 'payment-service-shop-'));
  closing(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'shop.sqlite');
}

/** Runs SQL on a file independently of the shop, and returns the rows of a query. */
export function execute(file: string, text: string): unknown[] {
  const database = new DatabaseSync(file, { timeout: 10_000 });
  try {
    return database.prepare(text).all();
  } finally {
    database.close();
  }
}

/** Both amounts of a callback. */
export function amounts(amount: number): { request_amount: number; transaction_amount: number } {
  return { request_amount: amount, transaction_amount: amount };
}

/** The genuine callback for an order of 18,000 UGX. */
export function genuine(reference: string, payload: object = {}): ReturnType<typeof sampleCallback> {
  const references = { merchant_reference: reference, internal_reference: 'INT-1' };
  return sampleCallback({ payload: { ...references, ...amounts(18_000), ...payload } });
}

/** Posts a callback to the shop at this origin, and returns the status. */
export async function post(origin: string, data: object, signature: string): Promise<number> {
  const response = await fetch(`${origin}/payments/callbacks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'hmac-signature': signature },
    body: JSON.stringify(data),
  });
  await response.text();
  return response.status;
}

export async function openShop(options: OpenShopOptions = {}): Promise<OpenShop> {
  const { framework = 'express', sandbox: rules, closing = onTestFinished, ...parts } = options;
  const file = options.file ?? newFile(closing);
  const sandbox = createSandbox(rules);
  closing(() => sandbox.close());
  const { url: sandboxOrigin } = await sandbox.listen();
  const log: string[] = [];
  const config: ShopConfig = {
    ...sandbox.account,
    baseUrl: sandboxOrigin,
    host: '127.0.0.1',
    port: 0,
    ...parts,
    file,
  };
  const shop = await startShop(framework, config, { log: (line) => log.push(line), ...parts });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= shop.close());
  closing(close);
  const { inbox, orders } = shop.books;

  const transitions: OpenShop['transitions'] = async () => {
    // Only a hang leaves one of them spooled, pending, due or started. A slow disk puts callbacks into the spool.
    while ((await inbox.stats()).spooled > 0 || (await inbox.reports({ limit: 1000 })).some(isUnderWay)) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return inbox.reports({ limit: 1000 });
  };
  const stateOf: OpenShop['stateOf'] = async (reference) => {
    await transitions();
    const order = orders.find(reference);
    return order && orderState(order);
  };
  const sendCallback: OpenShop['sendCallback'] = (reference, payload, key = sandbox.account.signingKey) => {
    const data = genuine(reference, payload);
    return post(shop.origin, data, signCallback({ signingKey: key, data }));
  };
  return {
    ...{
      origin: shop.origin,
      addresses: shop.addresses,
      sandbox,
      sandboxOrigin,
      orders,
      inbox,
      log,
      transitions,
      stateOf,
      sendCallback,
      close,
    },
    postCallback: (data, signature) => post(shop.origin, data, signature),
    execute: (text) => execute(file, text),
    async stateAfter(reference, payload) {
      const status = await sendCallback(reference, payload);
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
