/** The part of a tracing channel of node:diagnostics_channel that core needs, so that core needs no Node types. */
interface TracingChannel {
  readonly hasSubscribers?: boolean;
  tracePromise(run: () => Promise<void>, message: object): Promise<void>;
}
interface Platform {
  readonly process?: {
    getBuiltinModule?(id: string): { tracingChannel?(name: string): TracingChannel } | undefined;
  };
}

/** The members of every message of a tracing channel. */
export interface Trace {
  /** Set once the operation has ended. */
  durationMs?: number;
  /** Whether the operation failed. `error` is then published, but without the error itself, whose text may quote anything. */
  isFailed?: boolean;
}

/** A channel `tracing:payment-service:<what>:start`, with `end`, `asyncStart`, `asyncEnd` and `error`. */
export interface TraceChannel<M extends Trace> {
  /** Check this first: without a subscriber, nothing else needs to run. */
  readonly hasSubscribers: boolean;
  /**
   * Runs `body` once, whatever a subscriber does. Every event publishes the same object, with the facts known at that time. `body`
   * adds to the facts and receives a copy of the object as subscribers of `start` left it.
   */
  run<T>(facts: M, body: (started: Readonly<M>) => Promise<T>): Promise<T>;
}

/**
 * Makes a tracing channel in Node and every other runtime with node:diagnostics_channel. The module is not imported, so that the
 * same file runs in a browser, where nothing can subscribe (decision D62).
 *
 * @example
 * const CALLS: TraceChannel<ClientCallTrace> = traceChannel('client-call');
 * return CALLS.hasSubscribers ? CALLS.run(facts, call) : call();
 */
export function traceChannel<M extends Trace>(what: string): TraceChannel<M> {
  const { process }: Platform = globalThis as Platform;
  const diagnostics = process?.getBuiltinModule?.('diagnostics_channel');
  const channel = diagnostics?.tracingChannel?.(`payment-service:${what}`);
  return {
    get hasSubscribers() {
      return channel?.hasSubscribers === true;
    },
    run: async (facts, body) => (channel === undefined ? body(facts) : publish(channel, facts, body)),
  };
}

async function publish<M extends Trace, T>(
  channel: TracingChannel,
  facts: M,
  body: (started: M) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const published = { ...facts };
  let running: Promise<T> | undefined;
  const run = async (): Promise<void> => {
    running = body({ ...published });
    await running.catch(() => {
      facts.isFailed = true;
    });
    facts.durationMs = performance.now() - started;
    Object.assign(published, facts);
    if (facts.isFailed === true) await Promise.reject();
  };
  // Node publishes the value that this promise settles with, so it carries neither the result nor the error.
  await channel.tracePromise(run, published).catch(() => undefined);
  return running ?? body(facts); // A getter that a subscriber defined threw before the body ran.
}

/** W3C Trace Context, 3.2: version 00, the only one, with ids that are not zero. */
const TRACEPARENT = /^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

const kept = /* @__PURE__ */ new WeakMap<object, string>();

/**
 * Keeps the link from a delivery with a valid signature to its trace, for later work: the span of a subscriber, or else the
 * `traceparent` of its request. Values not in the W3C format are dropped. Neither is proved (threat A58), so it is only a link,
 * never a parent.
 *
 * @returns The `traceparent` of the request, if it has one.
 */
export function keepTraceparent(verified: object, traceparent: unknown, span: unknown): string | undefined {
  const [ofRequest, ofSpan] = [traceparent, span].map((one) =>
    typeof one === 'string' && TRACEPARENT.test(one) ? one : undefined,
  );
  const link = ofSpan ?? ofRequest;
  if (link !== undefined) kept.set(verified, link);
  return ofRequest;
}

/**
 * The `traceparent` of a subscriber's span, or else of the request in which a verified callback or an authentic refusal arrived.
 * Kept only while the callback channel has a subscriber.
 *
 * @example
 * traceparentOf(callback); // '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
 */
export function traceparentOf(verified: object): string | undefined {
  return kept.get(verified);
}
