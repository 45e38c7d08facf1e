import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { type Reader, testAdapter, testBridges } from '@payment-service/conformance';
import { type ExpressHandler, paymentCallbacks, paymentRedirects } from '../src/index.ts';
import { nodeServer } from './node-server.ts';

// On plain node:http: what the framework itself adds is not needed.

const readers: Readonly<Record<Exclude<Reader, 'stream'>, (bytes: Buffer) => unknown>> = {
  json: (bytes) => JSON.parse(bytes.toString()),
  text: (bytes) => bytes.toString(),
  bytes: (bytes) => bytes,
  'nothing kept': () => undefined,
};

/** A body parser: it leaves bodies that were already parsed, and types other than JSON, unchanged. */
function parser(reader: Reader): ExpressHandler {
  return async (request, _response, next) => {
    const { headers } = request;
    if (reader === 'stream') {
      Object.assign(request, { body: request.pipe(createGunzip()) });
      return next();
    }
    const isMeant = reader === 'nothing kept' || headers['content-type'] === 'application/json';
    if (!isMeant || Reflect.get(request, '_body')) return next();
    const stream = headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
    Object.assign(request, { body: readers[reader](await buffer(stream)) });
    next();
  };
}

const application: Parameters<typeof testAdapter>[1] = {
  callbacks({ options, before, after, handle }) {
    return nodeServer(
      ...(before ? [parser(before)] : []),
      paymentCallbacks(options),
      ...(after ? [parser(after)] : []),
      async (request, response, next) => {
        const text = await handle?.(request.paymentCallback).catch(next);
        if (text !== undefined) response.writeHead(202, { 'content-type': 'text/plain' }).end(text);
      },
    );
  },
  redirects({ options, handle }) {
    return nodeServer(paymentRedirects(options), async (request, response, next) => {
      const text = await handle?.(request.paymentRedirect).catch(next);
      if (text !== undefined) response.writeHead(202, { 'content-type': 'text/plain' }).end(text);
    });
  },
};

testAdapter('express', application);
testBridges('express', application);
