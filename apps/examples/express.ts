/** A merchant's server on Express 4 or 5: `SIGNING_KEY=… node express.ts`. */
import { confirmAmount } from '@payment-service/core';
import { paymentCallbacks, paymentRedirects } from '@payment-service/express';
import express from 'express';

const signingKey = process.env.SIGNING_KEY;
const orders = new Map([['ORD-1001', { currency: 'UGX', amount: '500', isPaid: false }]]);

const app = express();
app.use(
  '/payments/callbacks', // In production a path that customers cannot guess.
  paymentCallbacks({
    signingKey,
    onCallback: (callback) => {
      const order = orders.get(callback.signed.merchant_reference);
      if (!order) return;
      const payment = confirmAmount(callback, order); // A completed collection, of exactly this amount.
      if (payment.ok) order.isPaid = true;
      console.log(callback.signed.merchant_reference, payment.ok ? 'is paid' : payment.mismatches);
    },
    onRefused: ({ code, hint }) => console.warn(code, hint),
  }),
);
// The redirect decides where the browser goes. Whether the order is paid, only the callback says.
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
process.once('SIGTERM', () => server.close()); // Requests that are running are answered first.
