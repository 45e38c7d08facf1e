import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TransactionCallback } from '@payment-service/core';

/** One callback as it arrived over the wire. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The parsed body. Throws if it is not JSON. */
  readonly data: TransactionCallback;
}

/** A merchant's server on a real socket: it records every request, and responds as the test decides. */
export interface Merchant {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** Decides each response; 200 until it is set. */
  answer: (response: ServerResponse, received: Received) => void;
  close(): Promise<void>;
}

export async function startMerchant(): Promise<Merchant> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { method = '', url: path = '', headers } = request;
    const one = {
      method,
      path,
      headers,
      body,
      get data(): TransactionCallback {
        return JSON.parse(body);
      },
    };
    received.push(one);
    merchant.answer(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const merchant: Merchant = {
    url: `http://127.0.0.1:${port}/callbacks`,
    port,
    received,
    answer: (response) => response.end('{"status":"accepted"}'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return merchant;
}
