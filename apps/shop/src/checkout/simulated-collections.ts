import * as z from 'zod';
import type { Order, PaymentStart } from '../books/order.ts';
import type { ShopConfig } from '../config.ts';

/**
 * How this shop starts a payment: through the sandbox's own `POST /sandbox/collections`.
 *
 * SIMULATED. The service's own endpoint for starting a collection is not shown (protocol §4.4). Once you know yours, rewrite
 * only this file; the rest of the shop uses only `startCollection`.
 */
export type StartCollection = (order: Order) => Promise<PaymentStart>;

interface CollectionsOptions extends Pick<ShopConfig, 'baseUrl' | 'publicKey' | 'secretKey'> {
  /** Where the service sends the callback and the customer's browser. */
  readonly shopUrl: string;
}

const DEADLINE_MS = 8000;
const success = z.object({ data: z.object({ payment_page_url: z.url({ protocol: /^https?$/ }) }) });
const failure = z.object({ message: z.string() });

export function simulatedCollections(options: CollectionsOptions): StartCollection {
  const { baseUrl, publicKey, secretKey, shopUrl } = options;
  const endpoint = `${baseUrl}/sandbox/collections`;
  return async ({ reference, total, providerCode, account, customerName }) => {
    try {
      const response = await fetch(endpoint, {
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
          merchant_reference: reference,
          amount: Number(total.amount),
          currency: total.currency,
          provider_code: providerCode,
          account,
          customer_name: customerName,
          callback_url: `${shopUrl}/payments/callbacks`,
          redirect_url: `${shopUrl}/orders/${reference}/redirect`,
          mode: 'page',
        }),
      });
      const answer: unknown = await response.json().catch(() => undefined);
      return readAnswer(response.status, answer, new URL(baseUrl).origin);
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      return { state: 'unknown', why: isLate ? 'it did not answer in time' : 'it cannot be reached' };
    }
  };
}

/** @param answer undefined if the body is not JSON. */
function readAnswer(status: number, answer: unknown, origin: string): PaymentStart {
  const started = status === 201 ? success.safeParse(answer) : undefined;
  // The browser is sent only to the configured service.
  if (started?.success === true && new URL(started.data.data.payment_page_url).origin === origin) {
    return { state: 'started', paymentUrl: started.data.data.payment_page_url };
  }
  const refused = status >= 400 && status < 500 ? failure.safeParse(answer) : undefined;
  if (refused?.success === true) return { state: 'refused', why: refused.data.message };
  return { state: 'unknown', why: `its response (HTTP ${status}) is invalid` };
}
