import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { confirmAmount } from '@payment-service/core';
import { createClient } from '@payment-service/core/client';
import { paymentCallbacks } from '@payment-service/express';
import { createSandbox, type Sandbox } from '@payment-service/sandbox';
import express from 'express';
import { listening } from './listening.ts';

/** A collection in the sandbox, from the provider list to the confirmed amount. Needs a later Node than the rest. */
async function sandboxSmoke(): Promise<void> {
  const sandbox = createSandbox();
  try {
    await collect(sandbox);
  } finally {
    await sandbox.close();
  }
  console.log('the sandbox works');
}

async function collect(sandbox: Sandbox): Promise<void> {
  const { publicKey, secretKey, signingKey } = sandbox.account;
  const { url: baseUrl } = await sandbox.listen();
  const client = createClient({ baseUrl, publicKey, secretKey });
  const [provider] = await client.listPaymentProviders({ currency: 'UGX', transaction_type: 'COLLECTION' });
  assert.ok(provider?.option_prefixes[0]);

  const paid: string[] = [];
  const callbacks = paymentCallbacks({
    signingKey,
    onCallback: (callback) => {
      const payment = confirmAmount(callback, { currency: 'UGX', amount: '5000' });
      paid.push(`${callback.signed.merchant_reference} ${payment.ok}`);
    },
  });
  await listening(createServer(express().use(callbacks)), async (url) => {
    sandbox.collect({
      merchant_reference: 'ORD-1',
      amount: 5000,
      currency: 'UGX',
      provider_code: provider.provider_code,
      account: `${provider.option_prefixes[0]}000001`,
      callback_url: `${url}/callbacks`,
    });
    await sandbox.idle();
  });
  assert.deepEqual(paid, ['ORD-1 true']);
  const wallets = await client.getWalletBalances({ currency: 'UGX' });
  assert.deepEqual(wallets.map((wallet) => wallet.wallet_type).sort(), [
    'MERCHANT_COLLECTION',
    'MERCHANT_PAYOUT',
  ]);
}

sandboxSmoke().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
