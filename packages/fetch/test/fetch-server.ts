import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Application, Reader } from '@payment-service/conformance/application';
import { paymentCallbacks, paymentRedirects } from '../src/index.ts';

/** The shortest bridge from node:http to a `Request → Response` function, on Node's own Request and Response. */
function fetchServer(answer: (request: Request) => Response | Promise<Response>): Server {
  const server = createServer(async (incoming, outgoing) => {
    try {
      const response = await answer(requestOf(incoming));
      // As the servers of other runtimes do: the adapter cannot see that this one shuts down.
      if (!server.listening) response.headers.set('connection', 'close');
      await send(response, outgoing);
    } catch {
      outgoing.writeHead(500).end();
    }
    incoming.resume();
  });
  return server;
}

function requestOf(incoming: IncomingMessage): Request {
  const { method = '', rawHeaders, url = '' } = incoming;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  const body = method === 'GET' || method === 'HEAD' ? null : streamOf(incoming);
  const { host } = incoming.headers;
  const address = new URL(url, `http://${host === undefined || host === '' ? 'localhost' : host}`);
  return new Request(address, { method, headers, body, duplex: 'half' });
}

/** Reads only on demand, and leaves the connection open when cancelled, since the response must still be sent. */
function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const iterator = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  outgoing.statusCode = response.status;
  outgoing.setHeaders(response.headers).end(body);
}

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

export const application: Application = {
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
};
