/** A merchant's server on node:http, without a framework: `SIGNING_KEY=… node node-http.ts`. */
import { createServer, type ServerResponse } from 'node:http';
import { AmountMismatchError, assertAmount, isTransactionCompleted } from '@payment-service/core';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  type Reply,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';

const signingKey = process.env.SIGNING_KEY;
const orders = new Map([['ORD-1001', { currency: 'UGX', amount: '500', isPaid: false }]]);
const forReview = new Map<string, unknown>(); // Needs a decision by an operator. In production a table, like the orders.

const callbacks = createCallbackReceiver({
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
const redirects = createRedirectReceiver({
  signingKey,
  onRedirect: ({ signed }) => `/order?${new URLSearchParams({ reference: signed.merchant_reference })}`,
});

const server = createServer(async (request, response) => {
  const { method = '', url = '' } = request;
  const [path, query] = url.split('?', 2);
  // In production, give the callback a path that customers cannot guess.
  if (path === '/payments/callbacks') {
    const { reply } = await receiveCallback(incomingCallback(request), callbacks);
    return send(response, reply);
  }
  if (path === '/payments/return') {
    const { reply } = await receiveRedirect({ method, url }, redirects);
    return send(response, reply);
  }
  const order = orders.get(new URLSearchParams(query).get('reference') ?? '');
  response
    .setHeader('content-type', 'text/plain')
    .end(order?.isPaid ? 'Paid, thank you.' : 'Waiting for the payment.');
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
process.once('SIGTERM', () => server.close()); // Running requests are answered first.

/** There is no reply only if a receiver has no handler and passes the result through. */
function send(response: ServerResponse, reply: Reply | undefined): void {
  if (reply) response.writeHead(reply.status, reply.headers).end(reply.body);
}
