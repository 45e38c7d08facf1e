/** The part of a tracing channel of node:diagnostics_channel that core needs, so that core needs no Node types. */
interface Publisher {
  publish(message: object): void;
}
interface TracingChannel extends Readonly<Record<'end' | 'asyncStart' | 'asyncEnd' | 'error', Publisher>> {
  readonly hasSubscribers?: boolean;
  readonly start: { runStores(message: object, run: () => void): void };
}
interface Platform {
  readonly process?: {
    getBuiltinModule?(id: string): { tracingChannel?(name: string): TracingChannel } | undefined;
  };
}

/** What every message of a tracing channel has. */
export interface Trace {
  /** Set when the operation has ended. */
  durationMs?: number;
  /** Whether it ended with a failure, for which `error` is published. No error is passed on: its text may quote anything. */
  isFailed?: boolean;
}

/** A channel `tracing:payment-service:<what>:start`, with `end`, `asyncStart`, `asyncEnd` and `error`. */
export interface TraceChannel<M extends Trace> {
  /** Check it first: without a subscriber, nothing else runs. */
  readonly hasSubscribers: boolean;
  /**
   * Runs `body` once, whatever a subscriber does. Each event publishes one object with the facts as they are then: `body` adds to
   * the facts, and gets a copy of what subscribers of `start` have made of the object.
   */
  run<T>(facts: M, body: (started: Readonly<M>) => Promise<T>): Promise<T>;
}

/**
 * Makes a tracing channel, in Node and wherever else there is node:diagnostics_channel. It is not imported, so that the same
 * file runs in a browser, where nothing can subscribe (decision D62).
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
  const run = (): Promise<T> => {
    running ??= body(copyOf(published, facts));
    return running;
  };
  try {
    channel.start.runStores(published, run);
  } catch (error) {
    // Of a store that a subscriber has bound. What subscribers themselves throw, Node reports in the same way.
    queueMicrotask(() => {
      throw error;
    });
  }
  const result = run();
  channel.end.publish(published);
  try {
    return await result;
  } catch (error) {
    facts.isFailed = true;
    throw error;
  } finally {
    facts.durationMs = performance.now() - started;
    try {
      Object.assign(published, facts);
    } catch {
      // A subscriber has frozen it.
    }
    if (facts.isFailed === true) channel.error.publish(published);
    channel.asyncStart.publish(published);
    channel.asyncEnd.publish(published);
  }
}

/** An accessor that a subscriber has defined may throw. */
function copyOf<M extends object>(published: M, facts: M): M {
  try {
    return { ...published };
  } catch {
    return facts;
  }
}
