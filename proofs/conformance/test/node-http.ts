import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createGunzip, gunzipSync } from 'node:zlib';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  incomingCallback,
  type Reply,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';
import type { Application, CallbackRoute, Reader, RedirectRoute } from '../src/application.ts';

/**
 * Core's interface for adapters on plain node:http: a minimal adapter. `translate`, `target` and `answer` can be replaced by
 * faulty ones, to check that the suite notices.
 */
export class NodeHttp implements Application {
  listen: (listener: RequestListener) => Server = createServer;
  translate: typeof incomingCallback = incomingCallback;
  target = (request: IncomingMessage): string => request.url ?? '';

  callbacks({ options, before, handle }: CallbackRoute): Server {
    const receiver = createCallbackReceiver(options);
    return this.listen(async (request, response) => {
      const parsed = before && (await read(request, before));
      const { reply, callback } = await receiveCallback(this.translate(request, parsed), receiver);
      if (reply !== undefined) return this.answer(response, reply);
      await this.passThrough(response, async () => (await handle?.(callback)) ?? '');
    });
  }

  redirects({ options, handle }: RedirectRoute): Server {
    const receiver = createRedirectReceiver(options);
    return this.listen(async (request, response) => {
      const url = this.target(request);
      const received = await receiveRedirect({ method: request.method ?? '', url }, receiver);
      if (received.reply !== undefined) return this.answer(response, received.reply);
      response.setHeaders(new Map(Object.entries(received.headers)));
      await this.passThrough(response, async () => (await handle?.(received.redirect)) ?? '');
    });
  }

  answer(response: ServerResponse, { status, headers, body }: Reply): void {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = status;
    response.end(body);
  }

  async passThrough(response: ServerResponse, handle: () => Promise<string>): Promise<void> {
    const text = await handle().catch(() => undefined);
    response.setHeader('content-type', 'text/plain');
    response.statusCode = text === undefined ? 500 : 202;
    response.end(text);
  }
}

async function read(request: IncomingMessage, reader: Reader): Promise<unknown> {
  if (reader === 'stream') return request.pipe(createGunzip());
  const isJson = request.headers['content-type'] === 'application/json';
  if (reader === 'json' && !isJson) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const received = Buffer.concat(chunks);
  const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(received) : received;
  if (reader === 'bytes') return bytes;
  if (reader === 'text') return bytes.toString();
  return reader === 'json' ? JSON.parse(bytes.toString()) : undefined;
}
