import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  type Meter,
  type MeterProvider,
  metrics,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { checkOptions, FUNCTION, type OptionRule, type OptionRules, RECORD } from './options/options.ts';
import { runHook } from './reporting/hook.ts';

const PAYMENT_STATES = [
  'held',
  'unexpected',
  'overdue',
  'open',
  'paid',
  'reversed',
  'failed',
  'canceled',
] as const;

/** The part of the result of `inbox.counts()` that becomes gauges. */
export type ObservedCounts = Readonly<Record<(typeof PAYMENT_STATES)[number] | 'needed', number>>;

/** The part of the result of `inbox.health()` that becomes gauges; undefined values are not reported. */
export interface ObservedHealth {
  readonly oldestDueSeconds: number | undefined;
  readonly spooled: number | undefined;
}

/** Options of `observePayments()`. */
export interface ObserveOptions {
  /** `() => inbox.counts()`, for the payment gauges. Several inboxes need a meter provider each. */
  readonly counts?: (() => Promise<ObservedCounts>) | undefined;
  /**
   * `() => inbox.health()`, for the gauges of its work. It describes the database and the machine's spool, so pass it in one
   * process on each machine.
   */
  readonly health?: (() => Promise<ObservedHealth>) | undefined;
  /** @default the global provider of @opentelemetry/api */
  readonly tracerProvider?: TracerProvider | undefined;
  /** @default the global provider of @opentelemetry/api */
  readonly meterProvider?: MeterProvider | undefined;
  /** Called with errors of an exporter, a processor, `counts` or `health`. Payments are not affected. @default console.error */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

const PROVIDER: OptionRule = [RECORD[0], 'an OpenTelemetry provider'];
const RULES: OptionRules<ObserveOptions> = {
  counts: FUNCTION,
  health: FUNCTION,
  tracerProvider: PROVIDER,
  meterProvider: PROVIDER,
  onError: FUNCTION,
};

type Message = Readonly<Record<string, unknown>>;

const NAME = '@payment-service/core';
/** The names include the unit: some Prometheus exporters add it if it is absent, others never do. */
const SECONDS = {
  unit: 's',
  advice: { explicitBucketBoundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30] },
};

/** The channels, and the members of a message that label its metric: each has a closed set of values (threat A58). */
const CHANNELS: readonly (readonly [what: string, kind: SpanKind, labels: readonly string[]])[] = [
  ['callback', SpanKind.SERVER, ['outcome', 'refusal']],
  ['redirect', SpanKind.SERVER, ['outcome', 'refusal']],
  ['attempt', SpanKind.CONSUMER, ['outcome', 'state', 'reason']],
  ['client-call', SpanKind.CLIENT, ['operation', 'outcome']],
];

/** The attributes of a span. The rest of a message is not exported. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  outcome: 'payment.outcome',
  refusal: 'payment.refusal',
  state: 'payment.state',
  reason: 'payment.reason',
  operation: 'payment.operation',
  transitionId: 'payment.transition_id',
  isCompleted: 'payment.is_completed',
  attempt: 'payment.attempt',
  attempts: 'payment.attempts',
  status: 'http.response.status_code',
};

/**
 * Turns what the tracing channels publish into spans and metrics. Call it once, before the first callback. Callbacks, redirects
 * and client calls become spans below the active one. An attempt of the inbox becomes a separate trace, with links to the
 * requests in which its callbacks arrived. What a handler does is below the span of its callback or attempt.
 *
 * @returns A function that stops observing.
 * @throws {ConfigurationError} Names the option.
 *
 * @example
 * observePayments({ counts: () => inbox.counts(), health: () => inbox.health() });
 */
export function observePayments(options: ObserveOptions = {}): () => void {
  checkOptions('observePayments()', options, RULES);
  const { counts, health, onError: hook = console.error } = options;
  const onError = (error: unknown): void => runHook(() => hook(error), console.error);
  const meter = (options.meterProvider ?? metrics).getMeter(NAME);
  const guarded: Guarded = (observe) => (message) => {
    try {
      observe(message as Message);
    } catch (error) {
      onError(error);
    }
  };
  const tracer = (options.tracerProvider ?? trace).getTracer(NAME);
  const ends = CHANNELS.map((one) => observeChannel(one, tracer, meter, guarded));
  const countEvent = guarded(eventCounter(meter));
  subscribe('payment-service:inbox', countEvent);
  const told =
    <T>(read: () => Promise<T>) =>
    () =>
      read().catch((error: unknown) => void onError(error));
  const endCounts = counts && observeCounts(meter, told(counts));
  const endHealth = health && observeHealth(meter, told(health));
  return () => {
    for (const end of ends) end();
    unsubscribe('payment-service:inbox', countEvent);
    endCounts?.();
    endHealth?.();
  };
}

/** A span becomes active only through `context.with()`. If Node enters a store in another way, the span stays inactive. */
class ActiveSpans extends AsyncLocalStorage<Context> {
  override run<R>(active: Context, body: () => R): R {
    return context.with(active, body);
  }
}

/** Makes a listener whose errors do not affect the payment. */
type Guarded = (observe: (message: Message) => void) => (message: unknown) => void;

function observeChannel(
  [what, kind, labels]: (typeof CHANNELS)[number],
  tracer: Tracer,
  meter: Meter,
  guarded: Guarded,
): () => void {
  const { start, asyncEnd } = tracingChannel(`payment-service:${what}`);
  const spans = new WeakMap<object, Span>();
  const durations = meter.createHistogram(`payment.${what.replace('-', '_')}.duration_seconds`, SECONDS);
  const store = new ActiveSpans();
  const begin = guarded((message) => {
    const isBelow = kind === SpanKind.SERVER && trace.getActiveSpan() !== undefined;
    const root = kind === SpanKind.CONSUMER;
    const span = tracer.startSpan(`payment ${what}`, { kind: isBelow ? SpanKind.INTERNAL : kind, root });
    spans.set(message, span);
    Object.assign(message, { span: traceparentOf(span.spanContext()) });
  });
  const end = guarded((message) => {
    const { durationMs, isFailed, traceparent, traceparents = [traceparent] } = message;
    durations.record(Number(durationMs) / 1000, attributesOf(message, labels));
    const span = spans.get(message);
    if (span === undefined) return; // It began before observePayments() was called.
    span.setAttributes(attributesOf(message, Object.keys(ATTRIBUTES), ATTRIBUTES));
    if (isFailed === true) span.setStatus({ code: SpanStatusCode.ERROR });
    for (const link of Array.isArray(traceparents) ? traceparents : []) {
      const linked = spanContextIn(link);
      if (linked.traceId !== span.spanContext().traceId && isSpanContextValid(linked))
        span.addLink({ context: linked });
    }
    span.end();
  });
  start.bindStore(store, (message) => {
    begin(message);
    const span = spans.get(Object(message));
    return span === undefined ? context.active() : trace.setSpan(context.active(), span);
  });
  asyncEnd.subscribe(end);
  return () => {
    start.unbindStore(store);
    asyncEnd.unsubscribe(end);
  };
}

function attributesOf(
  message: Message,
  members: readonly string[],
  names: Readonly<Record<string, string>> = {},
): Attributes {
  const attributes: Attributes = {};
  for (const member of members) {
    const value = message[member];
    const isValue = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (isValue) attributes[names[member] ?? member] = value;
  }
  return attributes;
}

function traceparentOf(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
}

function spanContextIn(traceparent: unknown): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = String(traceparent).split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** Counts the events of inboxes. */
function eventCounter(meter: Meter): (event: Message) => void {
  const callbacks = meter.createCounter('inbox.callbacks');
  const parked = meter.createCounter('inbox.parked');
  const contradictions = meter.createCounter('inbox.contradictions');
  const failures = meter.createCounter('inbox.failures');
  // Counted from 0, since Prometheus sees no increase in a series that begins with 1.
  for (const outcome of ['spooled', 'unavailable']) callbacks.add(0, { outcome });
  for (const evidence of [false, true]) callbacks.add(0, { outcome: 'full', evidence });
  for (const kind of ['handler', 'store', 'spool']) failures.add(0, { kind });
  contradictions.add(0);
  return ({ name, outcome, isEvidence, state, reason, contradicted }) => {
    const received = attributesOf({ outcome, evidence: isEvidence }, ['outcome', 'evidence']);
    if (name === 'callback.received') callbacks.add(1, received);
    if (name === 'callback.spooled') callbacks.add(1, { outcome: 'spooled' });
    if (name === 'callback.unavailable') callbacks.add(1, { outcome: 'unavailable' });
    if (name === 'transition.parked') parked.add(1, attributesOf({ state, reason }, ['state', 'reason']));
    if (name === 'transition.settled' && contradicted === true) contradictions.add(1);
    if (name === 'transition.retrying') failures.add(1, { kind: 'handler' });
    if (name === 'store.unavailable') failures.add(1, { kind: 'store' });
    if (name === 'spool.failed' || name === 'spool.refused') failures.add(1, { kind: 'spool' });
  };
}

type Observe = Parameters<Meter['addBatchObservableCallback']>[0];

/** The number of payments in each state, read whenever the metrics are. */
function observeCounts(meter: Meter, read: () => Promise<ObservedCounts | undefined>): () => void {
  const payments = meter.createObservableGauge('inbox.payments');
  const needed = meter.createObservableGauge('inbox.needed');
  const observe: Observe = async (result) => {
    const counts = await read();
    if (counts === undefined) return;
    for (const state of PAYMENT_STATES) result.observe(payments, counts[state], { state });
    result.observe(needed, counts.needed);
  };
  meter.addBatchObservableCallback(observe, [payments, needed]);
  return () => meter.removeBatchObservableCallback(observe, [payments, needed]);
}

/** The health of the inbox, read whenever the metrics are. */
function observeHealth(meter: Meter, read: () => Promise<ObservedHealth | undefined>): () => void {
  const oldest = meter.createObservableGauge('inbox.oldest_due_seconds', { unit: 's' });
  const spooled = meter.createObservableGauge('inbox.spooled');
  const observe: Observe = async (result) => {
    const health = await read();
    if (health?.oldestDueSeconds !== undefined) result.observe(oldest, health.oldestDueSeconds);
    if (health?.spooled !== undefined) result.observe(spooled, health.spooled);
  };
  meter.addBatchObservableCallback(observe, [oldest, spooled]);
  return () => meter.removeBatchObservableCallback(observe, [oldest, spooled]);
}
