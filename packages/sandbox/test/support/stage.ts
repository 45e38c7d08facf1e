import { createVerifier } from '@payment-service/core';
import { afterEach, beforeEach } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/index.ts';
import { type Merchant, type Received, startMerchant } from './merchant.ts';
import { open } from './pages.ts';

/** A merchant for every test, and the sandboxes that the test opens; both are closed after it. */
export interface Stage {
  readonly merchant: Merchant;
  readonly sandbox: Sandbox;
  /** Opens a sandbox whose callbacks go to the merchant. */
  open(options?: SandboxOptions): Sandbox;
  /** The content of a page. */
  show(path: string): Promise<string>;
  /** What the verifier of core makes of a callback: the reference, or the refusal. */
  verdict(received: Received): string;
}

export function useStage(): Stage {
  let merchant: Merchant | undefined;
  let sandbox: Sandbox | undefined;
  const there = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('The test has not opened it yet.');
    return value;
  };
  beforeEach(async () => {
    merchant = await startMerchant();
  });
  afterEach(async () => {
    await sandbox?.close();
    await merchant?.close();
  });
  return {
    get merchant() {
      return there(merchant);
    },
    get sandbox() {
      return there(sandbox);
    },
    open: (options = {}) => {
      sandbox = createSandbox({ callbackUrl: there(merchant).url, ...options });
      return sandbox;
    },
    show: async (path) => (await open(there(sandbox), path)).text,
    verdict: ({ headers, body }) => {
      const { signingKey } = there(sandbox).account;
      const result = createVerifier({ signingKey }).verifyCallback({
        signature: headers['hmac-signature'],
        body,
      });
      return result.ok ? result.signed.merchant_reference : result.code;
    },
  };
}

/** Waits without a deadline of its own: only a hang fails the test. */
export async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 2));
}
