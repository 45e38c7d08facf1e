/** A merchant's server on Koa 2 or 3: `SIGNING_KEY=… node koa.ts`. */
import { confirmAmount } from '@payment-service/core';
import { paymentCallbacks, paymentRedirects } from '@payment-service/koa';
import Koa from 'koa';

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
  onRedirect: ({ signed }) => `/order?${new URLSearchParams({ reference: signed.merchant_reference })}`,
});

const app = new Koa();
app.use((ctx, next) => {
  if (ctx.path === '/payments/callbacks') return callbacks(ctx, next); // In production a path that customers cannot guess.
  if (ctx.path === '/payments/return') return redirects(ctx, next);
  return next();
});
app.use((ctx) => {
  const order = orders.get(new URLSearchParams(ctx.querystring).get('reference') ?? '');
  if (ctx.path === '/order') ctx.body = order?.isPaid ? 'Paid, thank you.' : 'Waiting for the payment.';
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
process.once('SIGTERM', () => server.close()); // Requests that are running are answered first.
