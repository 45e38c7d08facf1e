import { createServer, type Http2ServerRequest } from 'node:http2';
import {
  createCallbackReceiver,
  incomingCallback,
  type NodeRequest,
  receiveCallback,
} from '@payment-service/core/receive';
import { expect, test } from 'vitest';
import { refusedStreams, type StreamServer, testStreams } from '../src/streams.ts';

/** The seam on node:http2 alone. */
function seam(translate: (request: Http2ServerRequest) => NodeRequest): StreamServer {
  return (_path, options) => {
    const receiver = createCallbackReceiver(options);
    return createServer(async (request, response) => {
      const { reply } = await receiveCallback(incomingCallback(translate(request)), receiver);
      response.writeHead(reply?.status ?? 500).end(reply?.body ?? '');
    });
  };
}

testStreams(
  'node:http2',
  seam((request) => request),
);

test('control: the streams of an adapter that hides the version of HTTP stay open', async () => {
  const hidden = seam((request) => Object.create(request, { httpVersionMajor: { value: 1 } }));
  const { open } = await refusedStreams(hidden);
  expect(open).toBeGreaterThan(100);
});
