import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createClient } from '@payment-service/core/client';
import { observePayments } from '@payment-service/core/opentelemetry';
import {
  createCallbackReceiver,
  createRedirectReceiver,
  receiveCallback,
  receiveRedirect,
} from '@payment-service/core/receive';
import { sampleCallback, signCallback } from '@payment-service/core/testing';
import { createInbox, sqlite } from '@payment-service/inbox';
import { onTestFinished } from 'vitest';
import { type Collector, serve, startCollector } from './collector.ts';

/** What must be in no message, span, metric or log: three keys, a phone number, a name, and a reference. */
export const CANARY = {
  signingKey: 'canary-signing-key-5f1d',
  publicKey: 'canary-public-key-77aa',
  secretKey: 'canary-secret-key-90cc',
  phone: '256772999888',
  name: 'Grace Nakato Canary',
  reference: 'ORD-CANARY',
};

const PERSON = { customer_name: CANARY.name, transaction_account: CANARY.phone };
/** The trace of a proxy before the shop. */
export const PROXY = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

export interface ObservedShop {
  readonly collector: Collector;
  readonly tracer: ReturnType<TracerProvider['getTracer']>;
  readonly meters: MeterProvider;
  /** The address of the text page that Prometheus reads. */
  readonly metricsUrl: string;
  /** Everything that `onError` of the observation received. */
  readonly errors: unknown[];
  /** Posts a callback of `reference`, as an adapter would. */
  post(
    reference: string,
    change?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<number>;
  /** Payments that settle, fail, are parked and are refused; redirects; calls. */
  live(): Promise<void>;
  /** Resolves when the collector has everything. */
  flush(): Promise<void>;
}

export async function newObservedShop(): Promise<ObservedShop> {
  const collector = await startCollector();
  const contexts = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(contexts);
  const exporter = new OTLPTraceExporter({ url: `${collector.url}/v1/traces` });
  const tracers = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const prometheus = new PrometheusExporter({ preventServerStart: true });
  const metricExporter = new OTLPMetricExporter({ url: `${collector.url}/v1/metrics` });
  const periodic = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 3_600_000,
  });
  const meters = new MeterProvider({ readers: [prometheus, periodic] });
  const folder = mkdtempSync(join(tmpdir(), 'telemetry-'));
  // A handler's error is the application's own, with any contents.
  const inbox = createInbox({ store: sqlite(join(folder, 'shop.db')), onError: () => undefined });
  const errors: unknown[] = [];
  const end = observePayments({
    counts: () => inbox.counts(),
    health: () => inbox.health(),
    tracerProvider: tracers,
    meterProvider: meters,
    onError: (error) => errors.push(error),
  });
  onTestFinished(async () => {
    end();
    await Promise.all([tracers.shutdown(), meters.shutdown(), inbox.close()]);
    context.disable();
    rmSync(folder, { recursive: true });
  });
  const metricsUrl = await serve((request, response) =>
    prometheus.getMetricsRequestHandler(request, response),
  );
  const tracer = tracers.getTracer('shop');
  inbox.handle('paid', ({ signed }) => {
    tracer.startSpan('credit').end();
    if (signed.merchant_reference.endsWith('fails'))
      throw Object.assign(new Error(`${CANARY.name} ${CANARY.phone}`), {
        name: 'Canary',
        code: CANARY.phone,
      });
  });
  await inbox.ready();

  const { signingKey, publicKey, secretKey } = CANARY;
  const callbacks = createCallbackReceiver({
    signingKey,
    ...inbox.route,
  });
  const redirects = createRedirectReceiver({ signingKey, onRedirect: () => '/thanks' });

  async function post(
    reference: string,
    change: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ): Promise<number> {
    const amounts = { request_amount: 500, transaction_amount: 500 };
    const references = { merchant_reference: reference, internal_reference: `INT-${reference}` };
    const data = sampleCallback({ payload: { ...references, ...amounts, ...PERSON } });
    const signature = signCallback({ signingKey, data });
    const changed = { ...data, payload: { ...data.payload, ...change } };
    const all = new Map(Object.entries({ 'hmac-signature': signature, ...headers }));
    // Does the work of an instrumentation of HTTP.
    return tracer.startActiveSpan('POST /callbacks', async (span) => {
      const request = { method: 'POST', header: (name: string) => all.get(name) };
      const { reply } = await receiveCallback(
        { ...request, body: { state: 'parsed', data: changed } },
        callbacks,
      );
      span.end();
      return reply?.status ?? 0;
    });
  }

  async function redirect(key: string): Promise<void> {
    const { event, payload } = sampleCallback({
      payload: { merchant_reference: CANARY.reference, ...PERSON },
    });
    const signature = signCallback({ signingKey: key, data: { event, payload } });
    const query = new URLSearchParams({ event, hmac_signature: signature });
    for (const [name, value] of Object.entries(payload)) query.set(name, String(value));
    await receiveRedirect({ method: 'GET', url: `/return?${query}` }, redirects);
  }

  async function call(status: number): Promise<void> {
    const message = `${CANARY.name} ${CANARY.phone}`;
    const body = { code: status, status: 'success', message, data: { merchant_wallets: [] } };
    const baseUrl = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const client = createClient({ baseUrl, publicKey, secretKey, maxAttempts: 1 });
    await client.getWalletBalances({ currency: CANARY.phone }).catch(() => undefined);
  }

  const amount = { currency: 'UGX', amount: 500 };
  return {
    ...{ collector, tracer, meters, metricsUrl, errors, post },
    async live() {
      for (const reference of ['pays', 'agrees', 'fails', 'differs'])
        await inbox.expect({ merchant_reference: `${CANARY.reference}-${reference}`, ...amount });
      await post(`${CANARY.reference}-pays`, {}, { traceparent: PROXY });
      await post(`${CANARY.reference}-pays`, { transaction_amount: 499 });
      await post(`${CANARY.reference}-agrees`);
      await post(`${CANARY.reference}-fails`);
      await post(`${CANARY.reference}-differs`, { transaction_amount: 499 });
      await post(
        `${CANARY.reference}-forged`,
        { internal_reference: CANARY.phone },
        { traceparent: CANARY.phone },
      );
      await post(`${CANARY.reference}:evidence`);
      for (const key of [signingKey, 'another-key-of-someone-else']) await redirect(key);
      for (const status of [200, 500]) await call(status);
      // A program that works within its own span: its attempts are not part of that span.
      await tracer.startActiveSpan('program', (span) => inbox.drain().finally(() => span.end()));
    },
    async flush() {
      await tracers.forceFlush();
      await meters.forceFlush();
    },
  };
}
