import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { failureCode } from '../events.ts';
import type { Settings } from '../options.ts';
import { TimedOut, within } from '../time.ts';
import { Group } from './group.ts';
import type { IntakeOutcome } from './keep.ts';
import { type IntakeRecord, MAX_BODIES } from './record.ts';
import type { Spool } from './spool.ts';

/** More than this many waiting callbacks are refused at once: the store does not keep up. */
const MAX_WAITING = 5000;

export interface IntakeOptions {
  readonly settings: Settings;
  readonly keep: (records: readonly IntakeRecord[]) => Promise<readonly IntakeOutcome[]>;
  readonly ready: () => Promise<void>;
  readonly spool: Spool | undefined;
  /** Called when there may be work. */
  readonly onKept: () => void;
}

/** Keeps deliveries: in the store, or in the spool while the store is unavailable, or not at all, and reports it. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #group: Group<IntakeRecord, IntakeOutcome>;
  #isReady = false;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#group = new Group(options.keep);
  }

  /** @throws {UnavailableError} When the delivery could not be kept: it must not be acknowledged then. */
  async receive(record: IntakeRecord): Promise<void> {
    const { settings, spool } = this.#options;
    const started = performance.now();
    const { transitionId } = record;
    const durationMs = (): number => Math.round((performance.now() - started) * 1000) / 1000;
    const spooled = (): void =>
      settings.emit({ name: 'callback.spooled', transitionId, durationMs: durationMs() });
    if (spool?.isStoreUnavailable === true && (await spool.keep(record))) return spooled();
    try {
      const outcome = await this.store(record);
      const isEvidence = record.refusal !== null;
      settings.emit({
        name: 'callback.received',
        transitionId,
        outcome,
        isEvidence,
        durationMs: durationMs(),
      });
      if (outcome === 'full') throw fullError();
    } catch (error) {
      if (error instanceof ConfigurationError || error instanceof UnavailableError) throw error;
      if (spool !== undefined && (await spool.keepInstead(record))) return spooled();
      const failure = failureCode(error);
      settings.emit({ name: 'callback.unavailable', transitionId, failure, durationMs: durationMs() });
      throw unavailableError(failure);
    }
  }

  /** Within `storeTimeoutMs`, set-up and the wait for a group included. */
  async store(record: IntakeRecord): Promise<IntakeOutcome> {
    const { settings, ready, onKept } = this.#options;
    if (this.#group.size >= MAX_WAITING) throw new TimedOut();
    const until = performance.now() + settings.storeTimeoutMs;
    if (!this.#isReady) {
      await within(settings.storeTimeoutMs, ready());
      this.#isReady = true;
    }
    const outcome = await this.#group.add(record, Math.max(1, until - performance.now()));
    if (outcome === 'new' || outcome === 'new_body') onKept();
    return outcome;
  }
}

function unavailableError(failure: string): UnavailableError {
  return new UnavailableError(
    `The store of the inbox did not keep this callback (${failure}), so it is not acknowledged and the sender is asked to ` +
      'retry. Bring the store back. With the option spool, callbacks are kept meanwhile.',
  );
}

function fullError(): UnavailableError {
  return new UnavailableError(
    `${MAX_BODIES} different bodies of this transition are kept already, and this one does not equal the expectation, so ` +
      'it is not acknowledged. Look at the transition with list() and show(), and call expect() for its reference.',
    { retryAfterSeconds: 60 },
  );
}
