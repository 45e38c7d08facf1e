import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';
import type { Application, CallbackRoute, Reader, RedirectRoute } from '../src/index.ts';

type Received = Awaited<ReturnType<typeof receiveCallback>>;

/**
 * The seam on node:http alone, without any framework: what an adapter comes down to. `translate` and `answer` can be
 * replaced by wrong ones, to see that the suite notices.
 */
export class NodeHttp implements Application {
  translate: typeof incomingCallback = incomingCallback;
  target = (request: IncomingMessage): string => request.url ?? '';

  callbacks({ options, before, handle }: CallbackRoute): Server {
    const receiver = createCallbackReceiver(options);
    return createServer(async (request, response) => {
      const parsed = before && (await read(request, before));
      const received = await receiveCallback(this.translate(request, parsed), receiver);
      if (received.callback === undefined || handle === undefined) return this.answer(response, received);
      await this.handOn(response, () => handle(received.callback));
    });
  }

  redirects({ options, handle }: RedirectRoute): Server {
    const receiver = createRedirectReceiver(options);
    return createServer(async (request, response) => {
      const url = this.target(request);
      const received = await receiveRedirect({ method: request.method ?? '', url }, receiver);
      if (received.redirect === undefined || handle === undefined) return this.answer(response, received);
      response.setHeaders(new Map(Object.entries(received.headers)));
      await this.handOn(response, () => handle(received.redirect));
    });
  }

  answer(response: ServerResponse, { status, headers, body }: Omit<Received, 'callback'>): void {
    response.setHeaders(new Map(Object.entries(headers)));
    response.statusCode = status;
    response.end(body);
  }

  async handOn(response: ServerResponse, handle: () => Promise<string>): Promise<void> {
    const text = await handle();
    response.setHeader('content-type', 'text/plain');
    response.statusCode = 202;
    response.end(text);
  }
}

async function read(request: IncomingMessage, reader: Reader): Promise<unknown> {
  const isJson = request.headers['content-type'] === 'application/json';
  if (reader === 'json' && !isJson) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (reader === 'bytes') return bytes;
  if (reader === 'text') return bytes.toString();
  return reader === 'json' ? JSON.parse(bytes.toString()) : undefined;
}
