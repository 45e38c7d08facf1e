import { type Reader, testAdapter } from '@payment-service/conformance';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';
import { fetchServer } from './fetch-server.ts';

/** A request's body can be read once: middleware before the adapter reads a clone, or consumes it. */
const readers: Readonly<Record<Exclude<Reader, 'stream'>, (request: Request) => Promise<unknown>>> = {
  json: (request) => request.clone().json(),
  text: (request) => request.clone().text(),
  bytes: (request) => request.clone().arrayBuffer(),
  'nothing kept': (request) => request.arrayBuffer(),
};

/** With the headers of the original. */
const decompressed = (request: Request): Request => {
  const body = request.body?.pipeThrough<Uint8Array>(new DecompressionStream('gzip')) ?? null;
  return new Request(request, { body, duplex: 'half' });
};

/** None of the runtime's readers decompresses. */
const isCompressed = (request: Request): boolean => request.headers.has('content-encoding');

testAdapter('fetch', {
  callbacks({ options: { onCallback, ...options }, before, handle }) {
    const callbacks = onCallback ? paymentCallbacks({ ...options, onCallback }) : undefined;
    const passedThrough = paymentCallbacks(options);
    return fetchServer(async (incoming) => {
      const request = before === 'stream' ? decompressed(incoming) : incoming;
      if (before && before !== 'stream' && !isCompressed(request)) await readers[before](request);
      if (callbacks) return callbacks(request);
      return passedThrough(
        request,
        async (callback) => new Response(await handle?.(callback), { status: 202 }),
      );
    });
  },
  redirects({ options: { onRedirect, ...options }, handle }) {
    const redirects = onRedirect ? paymentRedirects({ ...options, onRedirect }) : undefined;
    const passedThrough = paymentRedirects(options);
    return fetchServer((request) => {
      if (redirects) return redirects(request);
      return passedThrough(
        request,
        async (redirect) => new Response(await handle?.(redirect), { status: 202 }),
      );
    });
  },
});
