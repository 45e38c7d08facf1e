/** A merchant's server on Hono; its `app` also runs on Bun, Deno and Workers: `SIGNING_KEY=… node hono.ts`. */
import { serve } from '@hono/node-server';
import { confirmAmount } from '@payment-service/core';
import { paymentCallbacks, paymentRedirects } from '@payment-service/fetch';
import { Hono } from 'hono';

const signingKey = process.env.SIGNING_KEY;
const orders = new Map([['ORD-1001', { currency: 'UGX', amount: '500', isPaid: false }]]);

const callbacks = paymentCallbacks({
  signingKey,
  onCallback: (callback) => {
    const order = orders.get(callback.signed.merchant_reference);
    if (!order) return;
    const payment = confirmAmount(callback, order); // A completed collection, of exactly this amount.
    if (payment.ok) order.isPaid = true;
    console.log(callback.signed.merchant_reference, payment.ok ? 'is paid' : payment.mismatches);
  },
  onRefused: ({ code, hint }) => console.warn(code, hint),
});
// The redirect decides where the browser goes. Whether the order is paid, only the callback says.
const redirects = paymentRedirects({
  signingKey,
  onRedirect: ({ signed }) => `/orders/${encodeURIComponent(signed.merchant_reference)}`,
});

const app = new Hono();
app.all('/payments/callbacks', (context) => callbacks(context.req.raw)); // In production a path that customers cannot guess.
app.all('/payments/return', (context) => redirects(context.req.raw));
app.get('/orders/:reference', (context) =>
  context.text(
    orders.get(context.req.param('reference'))?.isPaid ? 'Paid, thank you.' : 'Waiting for the payment.',
  ),
);

const port = Number(process.env.PORT ?? 3000);
const server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
process.once('SIGTERM', () => server.close()); // Requests that are running are answered first.
