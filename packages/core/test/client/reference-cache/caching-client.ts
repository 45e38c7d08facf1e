import type {
  CacheOptions,
  ClientOptions,
  ClientWithSecretKey,
  PaymentProvider,
} from '../../../src/client/client.ts';
import { createClient } from '../../../src/client/create-client.ts';
import { type Answer, type LocalService, success } from '../local-service.ts';
import { provider, publicKey, secretKey } from '../wire-samples.ts';

export const TTL_MS = 1000;

/** An answer of one payment provider, with this name. */
export function named(provider_name: string): Answer {
  return success({ payment_providers: [{ ...provider, provider_name }] });
}

/** A client whose cache clock stands still until the test moves it. */
export function cachingClient(
  { baseUrl }: LocalService,
  cache: Partial<CacheOptions> = {},
  onDeviation?: ClientOptions['onDeviation'],
): { client: ClientWithSecretKey; clock: { ms: number } } {
  const clock = { ms: 0 };
  const client = createClient({
    baseUrl,
    publicKey,
    secretKey,
    maxAttempts: 1,
    onDeviation,
    cache: { ttlMs: TTL_MS, ...cache },
    timing: { monotonic: () => clock.ms },
  });
  return { client, clock };
}

export async function nameOf(call: Promise<PaymentProvider[]>): Promise<string | undefined> {
  return (await call)[0]?.provider_name;
}
