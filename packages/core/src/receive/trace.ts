import { type Trace, type TraceChannel, traceChannel } from '../trace-channel.ts';
import type { RefusalCode } from '../verify/refusal.ts';
import { isTransactionCompleted, type Verified } from '../verify/verified.ts';
import type { ReceivedCallback } from './receive-callback.ts';
import type { ReceivedRedirect } from './receive-redirect.ts';
import type { CallbackReceiver, RedirectReceiver, Reply } from './receiver.ts';
import { keepTraceparent, traceparentOf } from './traceparent.ts';

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

export const CALLBACKS: TraceChannel<DeliveryTrace> = traceChannel('callback');
export const REDIRECTS: TraceChannel<DeliveryTrace> = traceChannel('redirect');

/** Runs `receive` with a receiver that also writes into the message of the channel. */
export function traceCallback(
  receiver: CallbackReceiver,
  receive: (traced: CallbackReceiver) => Promise<ReceivedCallback>,
): Promise<ReceivedCallback> {
  const facts: DeliveryTrace = { outcome: 'failed' };
  const { onCallback, onAuthenticRefusal } = receiver;
  return CALLBACKS.run(facts, async ({ span }) => {
    const received = await receive({
      ...withRefusals(receiver, facts),
      onCallback:
        onCallback &&
        ((callback) => {
          noteVerified(facts, span, callback, callback);
          return onCallback(callback);
        }),
      onAuthenticRefusal:
        onAuthenticRefusal &&
        ((refusal) => {
          noteVerified(facts, span, refusal.evidence, refusal);
          return onAuthenticRefusal(refusal);
        }),
    });
    if (received.callback) noteVerified(facts, span, received.callback, received.callback);
    noteReply(facts, received.reply);
    return received;
  });
}

/** The same for a redirect. */
export function traceRedirect(
  receiver: RedirectReceiver,
  receive: (traced: RedirectReceiver) => Promise<ReceivedRedirect>,
): Promise<ReceivedRedirect> {
  const facts: DeliveryTrace = { outcome: 'failed' };
  const { onRedirect } = receiver;
  return REDIRECTS.run(facts, async ({ span }) => {
    const received = await receive({
      ...withRefusals(receiver, facts),
      onRedirect:
        onRedirect &&
        ((redirect) => {
          noteVerified(facts, span, redirect, redirect);
          return onRedirect(redirect);
        }),
    });
    if (received.redirect) noteVerified(facts, span, received.redirect, received.redirect);
    noteReply(facts, received.reply);
    return received;
  });
}

function withRefusals<R extends CallbackReceiver | RedirectReceiver>(receiver: R, facts: DeliveryTrace): R {
  const reportRefusal: R['reportRefusal'] = (refusal, ...request) => {
    facts.outcome = 'refused';
    facts.refusal = refusal.code;
    receiver.reportRefusal(refusal, ...request);
  };
  return { ...receiver, reportRefusal };
}

/** `given` is what the handler gets, by which the inbox looks up the trace. */
function noteVerified(
  facts: DeliveryTrace,
  span: unknown,
  verified: Pick<Verified<'callback' | 'redirect' | 'evidence'>, 'signed' | 'transitionId'>,
  given: object,
): void {
  facts.outcome = 'failed'; // Until it is answered.
  facts.transitionId = verified.transitionId;
  facts.isCompleted = isTransactionCompleted(verified);
  facts.traceparent = traceparentOf(given);
  keepTraceparent(given, span);
}

function noteReply(facts: DeliveryTrace, reply: Reply | undefined): void {
  if (reply === undefined) facts.outcome = 'passed';
  else facts.status = reply.status;
  if (facts.outcome === 'failed' && (reply?.status === 200 || reply?.status === 303))
    facts.outcome = 'accepted';
  facts.isFailed = facts.outcome === 'failed';
}
