import * as z from 'zod';
import type { Money } from '../books/order.ts';

/**
 * How this shop starts a payment: through the sandbox's own `POST /sandbox/collections`.
 *
 * SIMULATED. The service's own endpoint for starting a collection is not shown (protocol §4.4). Once you know yours, rewrite
 * only this file; the rest of the shop uses only `startCollection`.
 */
export type StartCollection = (collection: CollectionToStart) => Promise<StartedCollection>;

export interface CollectionToStart {
  readonly merchantReference: string;
  readonly total: Money;
  readonly providerCode: string;
  readonly account: string;
  readonly customerName: string;
  readonly callbackUrl: string;
  readonly redirectUrl: string;
}

export type StartedCollection =
  | { readonly state: 'started'; readonly paymentUrl: string }
  /** The service refused; `why` is for people to read. */
  | { readonly state: 'refused'; readonly why: string }
  /** There was no valid response. The payment may have started: never start it again under the same reference. */
  | { readonly state: 'unknown'; readonly why: string };

interface CollectionsOptions {
  readonly baseUrl: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

const DEADLINE_MS = 8000;
const success = z.object({ data: z.object({ payment_page_url: z.url({ protocol: /^https?$/ }) }) });
const failure = z.object({ message: z.string() });

export function simulatedCollections(options: CollectionsOptions): StartCollection {
  const { baseUrl, publicKey, secretKey } = options;
  const endpoint = `${baseUrl}/sandbox/collections`;
  return async (collection) => {
    let response: Response;
    let body: string;
    try {
      response = await fetch(endpoint, {
        method: 'POST',
        // Following a redirect would send the secret key elsewhere.
        redirect: 'manual',
        signal: AbortSignal.timeout(DEADLINE_MS),
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'public-key': publicKey,
          'secret-key': secretKey,
        },
        body: JSON.stringify({
          merchant_reference: collection.merchantReference,
          amount: Number(collection.total.amount),
          currency: collection.total.currency,
          provider_code: collection.providerCode,
          account: collection.account,
          customer_name: collection.customerName,
          callback_url: collection.callbackUrl,
          redirect_url: collection.redirectUrl,
          mode: 'page',
        }),
      });
      body = await response.text();
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      return { state: 'unknown', why: isLate ? 'it did not answer in time' : 'it cannot be reached' };
    }
    return readAnswer(response.status, body, new URL(baseUrl).origin);
  };
}

function readAnswer(status: number, body: string, origin: string): StartedCollection {
  const answer = parseJson(body);
  const started = status === 201 ? success.safeParse(answer) : undefined;
  // The browser is sent only to the configured service.
  if (started?.success === true && new URL(started.data.data.payment_page_url).origin === origin) {
    return { state: 'started', paymentUrl: started.data.data.payment_page_url };
  }
  const refused = status >= 400 && status < 500 ? failure.safeParse(answer) : undefined;
  if (refused?.success === true) return { state: 'refused', why: refused.data.message };
  return { state: 'unknown', why: `its response (HTTP ${status}) is invalid` };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // readAnswer() reports a response that is not JSON as invalid.
    return undefined;
  }
}
