/** The callers that fetch the 30 payment options of client-service.ts. */

import { homeOf, importFrom } from './installed.ts';

type CreateClient = typeof import('@payment-service/core/client')['createClient'];

const PUBLIC_KEY = 'pk-8Vd2LqXw5RtYb7Nc';

export interface Caller {
  readonly name: string;
  readonly call: string;
  list(): Promise<unknown>;
}

export async function createCallers(project: string, baseUrl: string): Promise<readonly Caller[]> {
  const entry = '@payment-service/core/client';
  const { createClient } = await importFrom<{ createClient: CreateClient }>(homeOf(project, 'core'), entry);
  return [
    bareFetch(baseUrl),
    createCaller('client', createClient, { baseUrl }),
    createCaller('client, from the cache', createClient, { baseUrl, cache: { ttlMs: 3_600_000 } }),
  ];
}

/** Sends the client's headers. Checks the status and nothing else in the response. */
function bareFetch(baseUrl: string): Caller {
  return {
    name: 'fetch',
    call: 'fetch() + response.json(); checks nothing of the answer',
    list: () => fetchList(baseUrl),
  };
}

async function fetchList(baseUrl: string): Promise<unknown> {
  const headers = { accept: 'application/json', 'public-key': PUBLIC_KEY, 'x-api-version': '1' };
  const response = await fetch(`${baseUrl}/data/payment-providers`, { headers });
  if (!response.ok) throw new Error(`The service answered ${response.status}.`);
  const answer = (await response.json()) as { data: { payment_providers: unknown } };
  return answer.data.payment_providers;
}

function createCaller(
  name: string,
  createClient: CreateClient,
  options: { readonly baseUrl: string; readonly cache?: { readonly ttlMs: number } },
): Caller {
  const made = createClient({ ...options, publicKey: PUBLIC_KEY });
  return { name, call: 'listPaymentProviders()', list: () => made.listPaymentProviders() };
}
