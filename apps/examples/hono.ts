/** A merchant's server on Hono; its `app` also runs on Bun, Deno and Workers: `SIGNING_KEY=… node hono.ts`. */
import { serve } from '@hono/node-server';
import { AmountMismatchError, assertAmount, isTransactionCompleted } from '@payment-service/core';
import { paymentCallbacks, paymentRedirects } from '@payment-service/fetch';
import { Hono } from 'hono';

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

const app = new Hono();
app.all('/payments/callbacks', callbacks); // In production, use a path that customers cannot guess.
app.all('/payments/return', redirects);
app.get('/orders/:reference', (context) =>
  context.text(
    orders.get(context.req.param('reference'))?.isPaid ? 'Paid, thank you.' : 'Waiting for the payment.',
  ),
);

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
process.once('SIGTERM', () => server.close()); // Running requests are answered first.
