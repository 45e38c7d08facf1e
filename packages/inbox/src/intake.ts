import { ConfigurationError, UnavailableError } from '@payment-service/core';
import { receiveWithinLimit } from './body-limit.ts';
import { failureCode } from './failure-code.ts';
import { Group } from './group.ts';
import { type IntakeRecord, MAX_BODIES } from './intake-record.ts';
import type { Settings } from './settings.ts';
import type { Spool } from './spool.ts';
import type { IntakeOutcome, StoreEngine } from './store.ts';
import { TimedOut, within } from './within.ts';

const MOST_IN_GROUP = 64;
/** More than this many waiting callbacks are turned away at once: the store is not keeping up. */
const MOST_WAITING = 5000;
const BUSY_PAUSE_MS = 20;

export interface IntakeOptions<Tx> {
  readonly engine: StoreEngine<Tx>;
  readonly settings: Settings;
  readonly ready: () => Promise<void>;
  readonly spool: Spool | undefined;
  /** Called when there may be work. */
  readonly onKept: () => void;
}

/** Keeps deliveries: in the store, or in the spool while the store is away, or not at all, and says so. */
export class Intake<Tx> {
  readonly #options: IntakeOptions<Tx>;
  readonly #group: Group<IntakeRecord, IntakeOutcome>;
  #isReady = false;

  constructor(options: IntakeOptions<Tx>) {
    const { engine, settings } = options;
    this.#options = options;
    this.#group = new Group({
      send: (records) => receiveWithinLimit(engine, records, settings.account),
      lanes: engine.intakeLanes,
      most: MOST_IN_GROUP,
    });
  }

  /** @throws {UnavailableError} when the delivery could not be kept; it must not be acknowledged then. */
  async receive(record: IntakeRecord): Promise<void> {
    const { settings, spool, onKept } = this.#options;
    const started = performance.now();
    const { transitionId } = record;
    const durationMs = (): number => Math.round((performance.now() - started) * 1000) / 1000;
    if (spool?.isStoreAway === true && (await spool.keep(record))) {
      return settings.emit({ name: 'callback.spooled', transitionId, durationMs: durationMs() });
    }
    try {
      const outcome = await this.store(record);
      const isEvidence = record.refusal !== undefined;
      settings.emit({
        name: 'callback.received',
        transitionId,
        outcome,
        isEvidence,
        durationMs: durationMs(),
      });
      if (outcome === 'full') throw fullError();
      onKept();
    } catch (error) {
      if (error instanceof ConfigurationError || error instanceof UnavailableError) throw error;
      const failure = failureCode(error);
      if (spool !== undefined && (await spool.keepInstead(record))) {
        return settings.emit({ name: 'callback.spooled', transitionId, durationMs: durationMs() });
      }
      settings.emit({ name: 'callback.unavailable', transitionId, failure, durationMs: durationMs() });
      throw awayError(failure);
    }
  }

  /** Bounded by `storeTimeoutMs`, set-up and the wait for a group included. */
  async store(record: IntakeRecord): Promise<Exclude<IntakeOutcome, 'busy'>> {
    const { settings, ready } = this.#options;
    if (this.#group.size >= MOST_WAITING) throw new TimedOut();
    const until = performance.now() + settings.storeTimeoutMs;
    if (!this.#isReady) {
      await within(settings.storeTimeoutMs, ready());
      this.#isReady = true;
    }
    for (;;) {
      const outcome = await this.#group.add(record, Math.max(1, until - performance.now()));
      if (outcome !== 'busy') return outcome;
      if (performance.now() >= until) throw new TimedOut();
      await pause(BUSY_PAUSE_MS);
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function awayError(failure: string): UnavailableError {
  return new UnavailableError(
    `The store of the inbox did not keep this callback (${failure}), so it is not acknowledged and its sender is asked ` +
      'to come back. Bring the store back; with the option spool, callbacks are kept meanwhile.',
  );
}

function fullError(): UnavailableError {
  return new UnavailableError(
    `${MAX_BODIES} different bodies of this transition are kept already, and this one does not equal the expectation, ` +
      'so it is not acknowledged. Look at the transition with list() and show(), and call expect() for its reference.',
    { retryAfterSeconds: 60 },
  );
}
