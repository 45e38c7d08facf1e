import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A span as OTLP writes it in JSON. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number; readonly message?: string };
}

interface TraceRequest {
  readonly resourceSpans?: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

/** A collector for one test: accepts OTLP over HTTP, in JSON, on the loopback interface. */
export interface Collector {
  readonly url: string;
  /** Every request, unchanged. */
  readonly requests: { readonly path: string; readonly type: string | undefined; readonly body: string }[];
  spans(): ReceivedSpan[];
}

export async function startCollector(): Promise<Collector> {
  const requests: Collector['requests'][number][] = [];
  const url = await serve(async (request, response) => {
    const body = await text(request);
    requests.push({ path: request.url ?? '', type: request.headers['content-type'], body });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const traces = (): TraceRequest[] =>
    requests.filter(({ path }) => path === '/v1/traces').map(({ body }) => JSON.parse(body) as TraceRequest);
  return {
    url,
    requests,
    spans: () =>
      traces().flatMap(({ resourceSpans = [] }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
  };
}

/** A server on the loopback interface, for one test. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The attributes of a span, without their types. */
export function attributesOf({ attributes }: ReceivedSpan): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
