/** A merchant's server on node:http, without a framework: `SIGNING_KEY=… node node-http.ts`. */
import { createServer, type ServerResponse } from 'node:http';
import { confirmAmount } from '@payment-service/core';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';

const signingKey = process.env.SIGNING_KEY;
const orders = new Map([['ORD-1001', { currency: 'UGX', amount: '500', isPaid: false }]]);

const callbacks = createCallbackReceiver({
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
const redirects = createRedirectReceiver({
  signingKey,
  onRedirect: ({ signed }) => `/order?${new URLSearchParams({ reference: signed.merchant_reference })}`,
});

const server = createServer(async (request, response) => {
  const { method = '', url = '' } = request;
  const [path, query] = url.split('?', 2);
  // In production the callback has a path that customers cannot guess.
  if (path === '/payments/callbacks')
    return send(response, await receiveCallback(incomingCallback(request), callbacks));
  if (path === '/payments/return') return send(response, await receiveRedirect({ method, url }, redirects));
  const order = orders.get(new URLSearchParams(query).get('reference') ?? '');
  const body = order?.isPaid ? 'Paid, thank you.' : 'Waiting for the payment.';
  send(response, { status: 200, headers: { 'content-type': 'text/plain' }, body });
});
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
process.once('SIGTERM', () => server.close()); // Requests that are running are answered first.

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers).end(body);
}
