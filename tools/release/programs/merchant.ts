import * as core from '@payment-service/core';
import { createClient } from '@payment-service/core/client';

export type Settings = Readonly<Record<string, string | undefined>>;

/** The names of an adapter that a merchant's program uses. */
export interface Adapter {
  readonly confirmAmount: typeof core.confirmAmount;
  readonly isTransactionCompleted: typeof core.isTransactionCompleted;
  paymentCallbacks(options: { signingKey: string }): unknown;
}

/** What is called first with each callback. */
export type Keep = (callback: core.VerifiedCallback) => Promise<unknown>;

/** The part of every program of the rehearsal that is independent of its framework. */
export function merchant(adapter: Adapter, settings: Settings, keep?: Keep) {
  const prices: Readonly<Record<string, string | undefined>> = { 'ORD-1001': '500', 'ORD-2001': '5000' };
  const received: string[] = [];
  const key = (name: string): string => settings[name] ?? `MISSING-${name}-MISSING`;
  return {
    options: {
      signingKey: [
        { id: 'literal', key: key('LITERAL_KEY') },
        { id: 'sandbox', key: key('SIGNING_KEY') },
      ],
      allowSandboxKeys: true, // Some runtimes set NODE_ENV to production.
      onCallback: async (callback: core.VerifiedCallback) => {
        await keep?.(callback);
        const amount = prices[callback.signed.merchant_reference] ?? '0';
        const { ok } = adapter.confirmAmount(callback, { currency: 'UGX', amount });
        const isPaid = ok && adapter.isTransactionCompleted(callback);
        received.push(`${callback.signed.merchant_reference} ${isPaid ? 'paid' : 'verified'}`);
      },
    },
    report: async () => {
      const client = createClient({
        baseUrl: settings['SERVICE_URL'] ?? '',
        publicKey: settings['PUBLIC_KEY'],
      });
      const providers = await client.listPaymentProviders();
      return {
        received,
        error: misconfigured(adapter),
        providers: providers.map((one) => one.provider_code),
      };
    },
  };
}

function misconfigured(adapter: Adapter) {
  try {
    adapter.paymentCallbacks({ signingKey: '' });
  } catch (error) {
    const name = error instanceof Error ? error.name : String(error);
    return { name, isOfCore: error instanceof core.ConfigurationError };
  }
  return { name: 'none', isOfCore: false };
}
