import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { VerifiedCallback } from '@payment-service/core';
import { createCallbackReceiver, incomingCallback, receiveCallback } from '@payment-service/core/receive';
import { SIGNING_KEY } from './callbacks.ts';

/** The same server for all; only what keeps the callback differs. @returns its port. */
export async function serve(keep: (callback: VerifiedCallback) => Promise<unknown>): Promise<number> {
  const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: keep });
  const server = createServer((request, response) => {
    void receiveCallback(incomingCallback(request), receiver).then(({ reply }) => {
      if (reply === undefined) throw new Error('onCallback is set, so core answers.');
      response.writeHead(reply.status, reply.headers).end(reply.body);
    });
  });
  server.unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
