import {
  keepTraceparent,
  type Trace,
  type TraceChannel,
  traceChannel,
  traceparentOf,
} from '../reporting/trace-channel.ts';
import type { AuthenticRefusal, Refusal, RefusalCode } from '../verify/refusal.ts';
import { isTransactionCompleted, type VerifiedCallback, type VerifiedRedirect } from '../verify/verified.ts';
import type { CallbackReceiver, RedirectReceiver, Reply } from './receiver.ts';

/** A message of the channels `callback` and `redirect`: hashes and closed sets, so that nothing personal is in it (threat A58). */
export interface DeliveryTrace extends Trace {
  /** `passed`: verified, and passed through to the route. `failed`: a handler failed, and the sender was asked to retry. */
  outcome: 'accepted' | 'passed' | 'refused' | 'failed';
  /** The HTTP status of core's answer. */
  status?: number;
  refusal?: RefusalCode;
  transitionId?: string;
  /** Whether the signed fields say that the transaction completed. */
  isCompleted?: boolean;
  /** Of the request, once its signature was verified. */
  traceparent?: string | undefined;
  /** For a subscriber of `start` to set: the `traceparent` of its own span, which is then kept in place of the request's. */
  span?: string;
}

export const CALLBACKS: TraceChannel<DeliveryTrace> = /* @__PURE__ */ traceChannel('callback');
export const REDIRECTS: TraceChannel<DeliveryTrace> = /* @__PURE__ */ traceChannel('redirect');

/** What a handler gets, by which the inbox looks up the trace. */
type Given = VerifiedCallback | VerifiedRedirect | AuthenticRefusal;

interface Received {
  readonly reply: Reply | undefined;
  readonly callback?: VerifiedCallback;
  readonly redirect?: VerifiedRedirect;
}

/** Runs `receive` with a receiver whose hooks also write the facts: what decides about a delivery knows nothing of traces. */
export function traceDelivery<R extends CallbackReceiver | RedirectReceiver, T extends Received>(
  channel: TraceChannel<DeliveryTrace>,
  receiver: R,
  receive: (traced: R) => Promise<T>,
): Promise<T> {
  const facts: DeliveryTrace = { outcome: 'failed' };
  let hasFailed = false; // A redirect whose handler failed may be answered with 303 as well.
  return channel.run(facts, async ({ span }) => {
    const note = (given: Given): void => {
      const verified = 'evidence' in given ? given.evidence : given;
      facts.outcome = 'failed'; // Until it is answered.
      facts.transitionId = verified.transitionId;
      facts.isCompleted = isTransactionCompleted(verified);
      facts.traceparent = traceparentOf(given);
      keepTraceparent(given, span);
    };
    const reportRefusal: R['reportRefusal'] = (refusal: Refusal, ...request) => {
      facts.outcome = 'refused';
      facts.refusal = refusal.code;
      receiver.reportRefusal(refusal, ...request);
    };
    const reportError: R['reportError'] = (error) => {
      hasFailed = true;
      receiver.reportError(error);
    };
    const traced = { ...receiver, reportRefusal, reportError };
    for (const name of ['onCallback', 'onRedirect', 'onAuthenticRefusal']) {
      const handler: unknown = Reflect.get(receiver, name);
      if (typeof handler !== 'function') continue;
      Reflect.set(traced, name, (given: Given): unknown => {
        note(given);
        return Reflect.apply(handler, undefined, [given]);
      });
    }
    const received = await receive(traced);
    const { reply, callback, redirect } = received;
    const passed = callback ?? redirect;
    if (passed) note(passed);
    if (reply) facts.status = reply.status;
    else facts.outcome = 'passed';
    if (facts.outcome === 'failed' && !hasFailed && (reply?.status === 200 || reply?.status === 303))
      facts.outcome = 'accepted';
    facts.isFailed = facts.outcome === 'failed';
    return received;
  });
}
