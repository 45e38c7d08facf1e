/** A merchant's server on Express 4 or 5: `SIGNING_KEY=… node express.ts`. */
import { AmountMismatchError, assertAmount, isTransactionCompleted } from '@payment-service/core';
import { paymentCallbacks, paymentRedirects } from '@payment-service/express';
import express from 'express';

const signingKey = process.env.SIGNING_KEY;
const orders = new Map([['ORD-1001', { currency: 'UGX', amount: '500', isPaid: false }]]);
const forReview = new Map<string, unknown>(); // Needs a decision by an operator. In production a table, like the orders.

const app = express();
app.use(
  '/payments/callbacks', // In production, use a path that customers cannot guess.
  paymentCallbacks({
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
  }),
);
// The redirect only decides where the browser goes. Only the callback says whether the order is paid.
app.use(
  '/payments/return',
  paymentRedirects({
    signingKey,
    onRedirect: ({ signed }) => `/orders/${encodeURIComponent(signed.merchant_reference)}`,
  }),
);
app.get('/orders/:reference', (req, res) => {
  res
    .type('text')
    .send(orders.get(req.params.reference)?.isPaid ? 'Paid, thank you.' : 'Waiting for the payment.');
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
process.once('SIGTERM', () => server.close()); // Running requests are answered first.
