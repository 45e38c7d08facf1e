/** A merchant's server on Fastify 5: `SIGNING_KEY=… node fastify.ts`. */
import { AmountMismatchError, assertAmount, isTransactionCompleted } from '@payment-service/core';
import { paymentCallbacks, paymentRedirects } from '@payment-service/fastify';
import fastify from 'fastify';

const signingKey = process.env.SIGNING_KEY;
const orders = new Map([['ORD-1001', { currency: 'UGX', amount: '500', isPaid: false }]]);
const forReview = new Map<string, unknown>(); // Needs a decision by an operator. In production a table, like the orders.

const callbacks = paymentCallbacks({
  signingKey,
  onCallback: (callback) => {
    const { merchant_reference, transaction_status } = callback.signed;
    const order = orders.get(merchant_reference);
    if (!order || !isTransactionCompleted(callback))
      return console.log(merchant_reference, transaction_status);
    try {
      const payment = assertAmount(callback, order); // Throws unless it is exactly this payment.
      order.isPaid = true;
      console.log(merchant_reference, 'is paid:', payment.amount, payment.currency);
    } catch (error) {
      if (!(error instanceof AmountMismatchError)) throw error; // Answered with 429: the service sends it again.
      forReview.set(callback.transitionId, error.mismatches); // Kept, so answered with 200.
      console.warn(merchant_reference, error.message);
    }
  },
  onRefused: ({ code, hint }) => console.warn(code, hint),
});
// The redirect only decides where the browser goes. Only the callback says whether the order is paid.
const redirects = paymentRedirects({
  signingKey,
  onRedirect: ({ signed }) => `/orders/${encodeURIComponent(signed.merchant_reference)}`,
});

// Fastify would answer callbacks with 503 while it closes.
const app = fastify({ return503OnClosing: false });
app.register(callbacks, { prefix: '/payments/callbacks' }); // In production, use a path that customers cannot guess.
app.register(redirects, { prefix: '/payments/return' });
app.get<{ Params: { reference: string } }>('/orders/:reference', async (request) =>
  orders.get(request.params.reference)?.isPaid ? 'Paid, thank you.' : 'Waiting for the payment.',
);

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
process.once('SIGTERM', () => app.close()); // Running requests are answered first.
