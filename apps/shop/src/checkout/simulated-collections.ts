import { ApiError, ConnectionError, PaymentServiceError } from '@payment-service/core/client';
import * as z from 'zod';
import type { Order, PaymentStart } from '../books/order.ts';
import type { Context } from '../context.ts';

/**
 * How this shop starts a payment: through the sandbox's own `POST /sandbox/collections`.
 *
 * SIMULATED. The service's own endpoint for starting a collection is not shown (protocol §4.4). Once you know yours, rewrite
 * only this file; the rest of the shop uses only `startCollection`.
 */
export async function startCollection(
  { reference, total, form }: Order,
  { client, baseUrl, shopUrl }: Pick<Context, 'client' | 'baseUrl' | 'shopUrl'>,
): Promise<PaymentStart> {
  // The browser is sent only to the configured service.
  const isOfService = (page: string): boolean => URL.parse(page)?.origin === new URL(baseUrl).origin;
  try {
    const { data } = await client.request({
      method: 'POST',
      path: '/sandbox/collections',
      secretKey: true,
      schema: z.object({ payment_page_url: z.string().refine(isOfService) }),
      timeoutMs: 8000,
      body: {
        merchant_reference: reference,
        amount: Number(total.amount),
        currency: total.currency,
        provider_code: form.provider,
        // The sandbox requires one. The number of a card is typed only on the payment page.
        account: form.account || 'card',
        customer_name: form.name,
        // Where the service sends the callback and the customer's browser.
        callback_url: `${shopUrl}/payments/callbacks`,
        redirect_url: `${shopUrl}/orders/${reference}/redirect`,
        mode: 'page',
      },
    });
    return { state: 'started', paymentUrl: data.payment_page_url };
  } catch (error) {
    if (error instanceof ApiError && error.sent === 'refused' && error.serviceMessage !== undefined) {
      return { state: 'refused', why: error.serviceMessage };
    }
    if (error instanceof ConnectionError && error.sent === 'no') {
      return { state: 'refused', why: 'The payment service cannot be reached. Try again in a moment.' };
    }
    if (error instanceof PaymentServiceError) return { state: 'unknown', why: error.message };
    throw error;
  }
}
