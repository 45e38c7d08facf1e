import { createVerifier } from '@payment-service/core';
import { afterEach, beforeEach } from 'vitest';
import {
  type CollectionRequest,
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  type StartedCollection,
} from '../../src/index.ts';
import { type Answer, call, collection, listOf } from './api.ts';
import { type Merchant, type Received, startMerchant } from './merchant.ts';
import { open, type Sent, submit, textOf } from './pages.ts';

/** A merchant for every test, and the sandboxes that the test opens; all are closed after it. */
export interface Stage {
  readonly merchant: Merchant;
  /** The most recently opened sandbox. */
  readonly sandbox: Sandbox;
  /** Opens a sandbox whose callbacks go to the merchant. */
  open(options?: SandboxOptions): Sandbox;
  /** Starts a collection that passes every check, with these changes. */
  collect(change?: Partial<CollectionRequest>): StartedCollection;
  /** The same, and waits until its callbacks are delivered. Returns the number of the transaction. */
  deliver(change?: Partial<CollectionRequest>): Promise<number>;
  /** From now on the merchant responds with this. */
  answer(status: number, body?: string): void;
  /** The payloads that the merchant received. */
  payloads(): Received['data']['payload'][];
  /** Calls the API with both keys. */
  call(method: string, path: string, body?: object): Promise<Answer>;
  /** The list that the API returns. */
  list(path: string): Promise<Record<string, unknown>[]>;
  /** The content of a page. */
  show(path: string): Promise<string>;
  /** What a reader sees of it. */
  read(path: string): Promise<string>;
  /** Sends a form of the dashboard. */
  submit(action: string, fields?: Record<string, string>, from?: string): Promise<Sent>;
  /** The verdict of core's verifier on a callback: the reference, or the refusal. */
  verdict(received: Received): string;
}

/** With `options`, a sandbox is open before each test. */
export function useStage(options?: SandboxOptions): Stage {
  let merchant: Merchant | undefined;
  const opened: Sandbox[] = [];
  const there = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('The test has not opened it yet.');
    return value;
  };
  const current = (): Sandbox => there(opened.at(-1));
  const show = async (path: string): Promise<string> => (await open(current(), path)).text;
  const stage: Stage = {
    get merchant() {
      return there(merchant);
    },
    get sandbox() {
      return current();
    },
    open: (given = {}) => {
      opened.push(createSandbox({ callbackUrl: there(merchant).url, ...given }));
      return current();
    },
    collect: (change) => current().collect({ ...collection, ...change }),
    deliver: async (change) => {
      const { transaction } = stage.collect(change);
      await current().idle();
      return transaction.id;
    },
    answer: (status, body) => {
      there(merchant).answer = (response) => response.writeHead(status).end(body);
    },
    payloads: () => there(merchant).received.map(({ data }) => data.payload),
    call: (...asked) => call(current(), ...asked),
    list: async (path) => listOf(await call(current(), 'GET', path)),
    show,
    read: async (path) => textOf(await show(path)),
    submit: (...sent) => submit(current(), ...sent),
    verdict: ({ headers, body }) => {
      const { signingKey } = current().account;
      const signature = headers['hmac-signature'];
      const result = createVerifier({ signingKey }).verifyCallback({ signature, body });
      return result.ok ? result.signed.merchant_reference : result.code;
    },
  };
  beforeEach(async () => {
    merchant = await startMerchant();
    if (options !== undefined) stage.open(options);
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await merchant?.close();
  });
  return stage;
}

/** Waits without its own deadline: only a hang fails the test. */
export async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 2));
}
