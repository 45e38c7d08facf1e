import { signCallback } from '@payment-service/core/testing';
import { createSandbox, type Sandbox, type SandboxOptions } from '@payment-service/sandbox';
import { onTestFinished } from 'vitest';
import { type Framework, mount } from '../src/framework.ts';
import { createOrderStore, type OrderStore } from '../src/order-store.ts';
import { serve } from '../src/serve.ts';
import { createShop, type ShopParts } from '../src/shop.ts';

export const FRAMEWORKS: readonly Framework[] = ['express', 'fastify', 'koa'];

/** A running shop beside a running sandbox, both on real sockets. */
export interface OpenShop {
  readonly origin: string;
  readonly sandbox: Sandbox;
  readonly sandboxOrigin: string;
  readonly orders: OrderStore;
  readonly log: readonly string[];
  /** Posts to the callback route what the test signs itself, as the service would, and answers the status. */
  readonly sendCallback: (data: CallbackData, signingKey?: string) => Promise<number>;
  /** Posts to the callback route with a signature that the test got hold of. */
  readonly postCallback: (data: CallbackData, signature: string) => Promise<number>;
}

export interface CallbackData {
  readonly event: string;
  readonly payload: object;
}

interface OpenShopOptions extends ShopParts {
  readonly framework?: Framework;
  readonly sandbox?: SandboxOptions;
  /** The signing key that the shop is configured with, in place of the account's own. */
  readonly signingKey?: string;
  /** The address of the payment service, in place of the sandbox's. */
  readonly baseUrl?: string;
}

/** Closed when the test has finished. */
export async function openShop(options: OpenShopOptions = {}): Promise<OpenShop> {
  const { framework = 'express', sandbox: sandboxOptions, signingKey, baseUrl, ...parts } = options;
  const sandbox = createSandbox(sandboxOptions);
  onTestFinished(() => sandbox.close());
  const { url: sandboxOrigin } = await sandbox.listen();
  const orders = parts.orders ?? createOrderStore();
  const log: string[] = [];
  const account = { ...sandbox.account, ...(signingKey === undefined ? {} : { signingKey }) };
  const served = await serve({ host: '127.0.0.1', port: 0 }, (shopUrl) => {
    const config = { baseUrl: baseUrl ?? sandboxOrigin, shopUrl, ...account };
    return mount(framework, createShop(config, { log: (line) => log.push(line), ...parts, orders }));
  });
  onTestFinished(() => served.close());

  const postCallback: OpenShop['postCallback'] = async (data, signature) => {
    const response = await fetch(`${served.origin}/payments/callbacks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'hmac-signature': signature },
      body: JSON.stringify(data),
    });
    await response.text();
    return response.status;
  };
  return {
    origin: served.origin,
    sandbox,
    sandboxOrigin,
    orders,
    log,
    postCallback,
    sendCallback: (data, key = sandbox.account.signingKey) =>
      postCallback(data, signCallback({ signingKey: key, data })),
  };
}
