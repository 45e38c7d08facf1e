import { type Trace, type TraceChannel, traceChannel } from '@payment-service/core/internal';
import type { InboxEvent } from '../../reporting/events.ts';
import type { TransitionReason, TransitionState } from '../../states.ts';
import { attempt } from './attempt.ts';
import type { Due, Ended, Outcome, Turn, WorkContext } from './attempt-stages.ts';

/** A message of the channel `attempt`: only hashes and values of closed sets, so no personal data (threat A58). */
export interface AttemptTrace extends Trace {
  readonly transitionId: string;
  /** From 1. */
  readonly attempt: number;
  /** `undone` and `overtaken`: another worker has it. Missing if the database did not answer. */
  outcome?: Outcome;
  state?: TransitionState;
  reason?: TransitionReason;
  /** The traces of the requests of its bodies, or of the spans that were made for them. */
  traceparents?: readonly string[];
}

const ATTEMPTS: TraceChannel<AttemptTrace> = traceChannel('attempt');

/** An attempt, which is published on the channel `attempt` while that has a subscriber. */
export function traceAttempt<Tx>(due: Due, context: WorkContext<Tx>, turn: Turn): Promise<Ended> {
  if (!ATTEMPTS.hasSubscribers) return attempt(due, context, turn);
  const { settings } = context;
  const facts: AttemptTrace = { transitionId: due.transitionId, attempt: due.attempts + 1 };
  const emit = (event: InboxEvent): void => {
    if ('state' in event) facts.state = event.state;
    if ('reason' in event) facts.reason = event.reason;
    settings.emit(event);
  };
  const onCase: WorkContext<Tx>['onCase'] = ({ traceparents }) => {
    facts.traceparents = [...new Set(traceparents)];
  };
  return ATTEMPTS.run(facts, async () => {
    const ended = await attempt(due, { ...context, settings: { ...settings, emit }, onCase }, turn);
    facts.outcome = ended.outcome;
    facts.isFailed = ended.outcome === 'retrying' || facts.state === 'dead';
    return ended;
  });
}
