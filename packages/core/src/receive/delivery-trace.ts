import { type Trace, type TraceChannel, traceChannel } from '../reporting/trace-channel.ts';
import type { RefusalCode } from '../verify/refusal.ts';
import { isTransactionCompleted, type Kind, type Verified } from '../verify/verified.ts';
import type { Reply } from './receiver.ts';

/** A message of the `callback` and `redirect` channels. It has only hashes and closed sets, so nothing personal (threat A58). */
export interface DeliveryTrace extends Trace {
  /** `passed`: verified, and passed through to the route. `failed`: a handler failed, and the sender was asked to retry. */
  outcome: 'accepted' | 'passed' | 'refused' | 'failed';
  /** The HTTP status of core's answer. */
  status?: number;
  refusal?: RefusalCode;
  transitionId?: string;
  /** Whether the signed fields say that the transaction completed. */
  isCompleted?: boolean;
  /** From the request, once its signature is verified. */
  traceparent?: string | undefined;
  /** Set by a subscriber of `start`: the `traceparent` of its span, which is then kept instead of the request's. */
  span?: string;
}

export const CALLBACKS: TraceChannel<DeliveryTrace> = /* @__PURE__ */ traceChannel('callback');
export const REDIRECTS: TraceChannel<DeliveryTrace> = /* @__PURE__ */ traceChannel('redirect');

/** The result of a delivery: what the adapter receives, and what a trace publishes. */
export interface Delivered<R extends { readonly reply: Reply | undefined }>
  extends Pick<DeliveryTrace, 'outcome' | 'traceparent'> {
  readonly received: R;
  readonly refusal?: RefusalCode | undefined;
  /** What the handler or the route received. */
  readonly given?: Verified<Kind>;
}

/** Publishes the result of a delivery. Without a subscriber, `receive` has nothing to read or keep for a trace. */
export async function traceDelivery<R extends { readonly reply: Reply | undefined }>(
  channel: TraceChannel<DeliveryTrace>,
  receive: (started?: Readonly<DeliveryTrace>) => Promise<Delivered<R>>,
): Promise<R> {
  if (!channel.hasSubscribers) return (await receive()).received;
  const facts: DeliveryTrace = { outcome: 'failed' };
  return channel.run(facts, async (started) => {
    const { received, outcome, refusal, given, traceparent } = await receive(started);
    const { reply } = received;
    Object.assign(facts, { outcome, isFailed: outcome === 'failed' });
    if (reply !== undefined) facts.status = reply.status;
    if (refusal !== undefined) facts.refusal = refusal;
    if (given === undefined) return received;
    facts.transitionId = given.transitionId;
    facts.isCompleted = isTransactionCompleted(given);
    facts.traceparent = traceparent;
    return received;
  });
}
