import { PaymentServiceError } from '../../errors.ts';
import { type Trace, type TraceChannel, traceChannel } from '../../reporting/trace-channel.ts';
import type { AttemptReport, Operation } from '../client.ts';
import type { ClientSettings } from '../settings/settings.ts';

/** A message of the channel `client-call`: one call, with all of its attempts. No address and no query is in it (threat A58). */
export interface ClientCallTrace extends Trace {
  readonly operation: Operation;
  /** How many requests were sent. */
  attempts: number;
  /** The HTTP status of the last response. */
  status?: number | undefined;
  /** `aborted`: the caller's signal ended it. */
  outcome?: AttemptReport['outcome'];
}

export const CALLS: TraceChannel<ClientCallTrace> = traceChannel('client-call');

/** Runs a call with settings that also write into the message of the channel. */
export function traceCall<T, C extends { readonly settings: ClientSettings; readonly operation: Operation }>(
  call: C,
  run: (traced: C) => Promise<T>,
): Promise<T> {
  const { settings, operation } = call;
  const facts: ClientCallTrace = { operation, attempts: 0 };
  const onResponse = (report: AttemptReport): void => {
    facts.attempts = report.attempt;
    facts.status = report.status;
    settings.onResponse?.(report);
  };
  return CALLS.run(facts, async () => {
    try {
      const result = await run({ ...call, settings: { ...settings, onResponse } });
      facts.outcome = 'success';
      return result;
    } catch (error) {
      facts.outcome = error instanceof PaymentServiceError ? error.code : 'aborted';
      throw error;
    }
  });
}
