import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createHttp2Server, type Http2ServerRequest } from 'node:http2';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  type Reply,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';
import { type HostileMount, type HostileRoutes, serveHostile } from '../src/hostile/serve-hostile.ts';

type Incoming = ReturnType<typeof incomingCallback>;

/** Core's interface for adapters on Node's own servers, without a framework. */
function seam({ callbacks, redirects }: HostileRoutes): (url: string, callback: Incoming) => Promise<Reply> {
  const receivers = new Map(callbacks.map(({ path, options }) => [path, createCallbackReceiver(options)]));
  const redirect = createRedirectReceiver(redirects.options);
  return async (url, callback) => {
    const receiver = receivers.get(new URL(url, 'http://localhost').pathname);
    const { reply } =
      receiver === undefined
        ? await receiveRedirect({ method: callback.method, url }, redirect)
        : await receiveCallback(callback, receiver);
    return reply ?? { status: 500, headers: {}, body: '' };
  };
}

function onHttp1(translate: (request: IncomingMessage) => Incoming): HostileMount['http1'] {
  return (routes) => {
    const answer = seam(routes);
    return createServer(async (request, response) => {
      const { status, headers, body } = await answer(request.url ?? '', translate(request));
      response.writeHead(status, headers).end(body);
    });
  };
}

function onHttp2(translate: (request: Http2ServerRequest) => Incoming): Required<HostileMount>['http2'] {
  return (routes) => {
    const answer = seam(routes);
    return createHttp2Server(async (request, response) => {
      const { status, body } = await answer(request.url, translate(request));
      response.writeHead(status).end(body);
    });
  };
}

const http1 = onHttp1((request) => incomingCallback(request));
const takesFirst = onHttp1((request) => ({
  ...incomingCallback(request),
  header: (name) => request.headersDistinct[name]?.[0]?.split(', ')[0],
}));
const hidesHttp2 = onHttp2((request) =>
  incomingCallback(Object.create(request, { httpVersionMajor: { value: 1 } })),
);

await serveHostile({
  'node:http': { http1 },
  lenient: { http1: takesFirst },
  'hides HTTP/2': { http1, http2: hidesHttp2 },
});
