/** A merchant's server on Fastify 5: `SIGNING_KEY=… node fastify.ts`. */
import { confirmAmount } from '@payment-service/core';
import { paymentCallbacks, paymentRedirects } from '@payment-service/fastify';
import fastify from 'fastify';

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

const app = fastify();
app.register(callbacks, { prefix: '/payments/callbacks' }); // In production a path that customers cannot guess.
app.register(redirects, { prefix: '/payments/return' });
app.get<{ Params: { reference: string } }>('/orders/:reference', async (request) =>
  orders.get(request.params.reference)?.isPaid ? 'Paid, thank you.' : 'Waiting for the payment.',
);

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
process.once('SIGTERM', () => app.close()); // Requests that are running are answered first.
