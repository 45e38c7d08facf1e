import { createServer, type IncomingMessage } from 'node:http';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';
import { type HostileMount, serveHostile } from '../src/hostile/serve-hostile.ts';

/** The seam on node:http alone, or with an adapter that takes the first value of a header. */
const seam = (takesFirst: boolean): HostileMount => ({
  http1: ({ callbacks, redirects }) => {
    const receivers = new Map(callbacks.map(({ path, options }) => [path, createCallbackReceiver(options)]));
    const redirect = createRedirectReceiver(redirects.options);
    return createServer(async (request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://localhost');
      const receiver = receivers.get(pathname);
      const { reply } =
        receiver === undefined
          ? await receiveRedirect({ method: request.method ?? '', url: request.url ?? '' }, redirect)
          : await receiveCallback(incoming(request, takesFirst), receiver);
      response.writeHead(reply?.status ?? 500, reply?.headers).end(reply?.body ?? '');
    });
  },
});

function incoming(request: IncomingMessage, takesFirst: boolean): ReturnType<typeof incomingCallback> {
  const whole = incomingCallback(request);
  if (!takesFirst) return whole;
  return { ...whole, header: (name) => request.headersDistinct[name]?.[0]?.split(', ')[0] };
}

await serveHostile({ 'node:http': seam(false), lenient: seam(true) });
