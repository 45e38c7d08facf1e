import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { failureCode } from '../events.ts';
import type { Settings } from '../options.ts';
import { within } from '../time.ts';
import { Group } from './group.ts';
import { type IntakeOutcome, type KeepContext, keepGroup } from './keep.ts';
import { type IntakeRecord, MAX_BODIES } from './record.ts';
import type { Spool } from './spool.ts';

export interface IntakeOptions<Tx> {
  readonly settings: Settings;
  readonly keeping: KeepContext<Tx>;
  readonly ready: () => Promise<void>;
  readonly spool: Spool | undefined;
  readonly onKept: () => void;
}

/** Keeps deliveries: in the store, or in the spool while the store is unavailable, or not at all, and reports it. */
export class Intake<Tx> {
  readonly #options: IntakeOptions<Tx>;
  readonly #group = new Group((records: readonly IntakeRecord[]) => this.#keep(records));
  #isFailing = false;

  constructor(options: IntakeOptions<Tx>) {
    this.#options = options;
  }

  /** @throws {UnavailableError} When the delivery could not be kept: it must not be acknowledged then. */
  async receive(record: IntakeRecord): Promise<void> {
    const { settings, spool } = this.#options;
    const started = performance.now();
    const seen = (): { transitionId: string; durationMs: number } => ({
      transitionId: record.transitionId,
      durationMs: Math.round((performance.now() - started) * 1000) / 1000,
    });
    const spooled = (): void => settings.emit({ name: 'callback.spooled', ...seen() });
    if (spool?.isStoreUnavailable === true && (await spool.keep(record))) return spooled();
    let outcome: IntakeOutcome;
    try {
      outcome = await this.store(record);
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      if (spool !== undefined) {
        // Before the delivery is kept: it may be stored, which ends this, while it is still waited for.
        spool.isStoreUnavailable = true;
        if (await spool.keep(record)) return spooled();
      }
      const failure = failureCode(error);
      settings.emit({ name: 'callback.unavailable', failure, ...seen() });
      throw new UnavailableError(
        `The store of the inbox did not keep this callback (${failure}), so it is not acknowledged and the sender is asked ` +
          'to retry. Bring the store back. With the option spool, callbacks are kept meanwhile.',
      );
    }
    const isEvidence = record.refusal !== null;
    settings.emit({ name: 'callback.received', outcome, isEvidence, ...seen() });
    if (outcome !== 'full') return;
    throw new UnavailableError(
      `${MAX_BODIES} different bodies of this transition are kept already, and this one does not equal the expectation, so ` +
        'it is not acknowledged. Look at the transition with list() and show(), and call expect() for its reference.',
      { retryAfterSeconds: 60 },
    );
  }

  /** Within `storeTimeoutMs`, the wait for a group included. */
  async store(record: IntakeRecord): Promise<IntakeOutcome> {
    const outcome = await this.#group.add(record, this.#options.settings.storeTimeoutMs);
    if (outcome !== 'full') this.#options.onKept();
    return outcome;
  }

  async #keep(records: readonly IntakeRecord[]): Promise<readonly IntakeOutcome[]> {
    const { keeping, ready, settings } = this.#options;
    // After a failure in a transaction, which has limits: without them, a statement that waits for a lock keeps its connection
    // on the server after its callers have timed out.
    const keep = (): Promise<readonly IntakeOutcome[]> =>
      this.#isFailing
        ? keeping.transact((tx) => keepGroup(keeping, records, tx))
        : keepGroup(keeping, records);
    try {
      const outcomes = await within(settings.storeTimeoutMs, ready().then(keep));
      this.#isFailing = false;
      return outcomes;
    } catch (error) {
      this.#isFailing = true;
      throw error;
    }
  }
}
