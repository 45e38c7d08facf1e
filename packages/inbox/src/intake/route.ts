import {
  type AuthenticRefusal,
  type Evidence,
  UnavailableError,
  type VerifiedCallback,
  type VerifierOptions,
} from '@payment-service/core';
import { isAcknowledged, proofOf, type SignatureCheck, takingCheck } from '@payment-service/core/internal';
import type { IntakeRecord } from '../delivery/stored-delivery.ts';
import type { Settings } from '../options.ts';
import { type Report, warn } from '../reporting/problems.ts';
import { callbackRecord, evidenceRecord } from './verified-record.ts';

/** The options of `paymentCallbacks()` that an inbox decides. */
export interface InboxRoute {
  readonly account: string;
  readonly colonIn: VerifierOptions['colonIn'];
  readonly onCallback: (callback: VerifiedCallback) => Promise<void>;
  readonly onAuthenticRefusal: (refusal: AuthenticRefusal) => Promise<void>;
}

export interface RouteOptions {
  readonly settings: Settings;
  /** Aborted by `close()`. */
  readonly closed: AbortSignal;
  readonly intake: {
    /** Resolves when the delivery is kept. */
    receive(record: IntakeRecord, signature: string | undefined): Promise<void>;
  };
  /** Takes the check of a route that passes its callbacks here: its keys verify what is in the spool. */
  readonly trust: (check: SignatureCheck) => void;
}

/** What a route gets from an inbox: it answers 200 when the callback is kept. */
export function routeOf({ settings, closed, intake, trust }: RouteOptions): InboxRoute {
  const { account, colonIn, bodyContent, report } = settings;
  const earlyAnswers = new EarlyAnswers(report);
  let last: SignatureCheck | undefined;

  /** Usually the same each time. */
  function offer(check: SignatureCheck): void {
    if (check !== last) trust(check);
    last = check;
  }

  async function keep(record: IntakeRecord, verified: VerifiedCallback | Evidence): Promise<void> {
    if (closed.aborted)
      throw new UnavailableError(
        'The inbox is closed because this process is ending, so the sender is asked to retry.',
      );
    const proof = proofOf(verified);
    // A route with a function that calls this one has offered nothing yet.
    if (proof !== undefined) offer(proof.check);
    await intake.receive(bodyContent.keep(record), proof?.signature);
  }

  return Object.freeze({
    ...{ account, colonIn },
    onCallback: takingCheck(
      async (callback: VerifiedCallback) =>
        earlyAnswers.watch(callback, keep(callbackRecord(callback, account), callback)),
      offer,
    ),
    onAuthenticRefusal: takingCheck(
      async (refusal: AuthenticRefusal) =>
        earlyAnswers.watch(refusal.evidence, keep(evidenceRecord(refusal, account), refusal.evidence)),
      offer,
    ),
  });
}

const FIX =
  'Return the promise, as in onCallback: (callback) => inbox.route.onCallback(callback), or spread inbox.route into ' +
  'paymentCallbacks().';
const ANSWERED_EARLY =
  'The program answered 200 before the inbox had kept a callback, so callbacks are lost while the database is unavailable. ';
const LOST =
  'The program answered 200 before the inbox had kept this callback, and it could not be kept. The sender does not know, and may ' +
  'not send it again. ';

/** Detects a handler that drops the promise of `inbox.route.onCallback()`, so that the route answers too early (threat A82). */
class EarlyAnswers {
  readonly #report: Report;
  #isReported = false;

  constructor(report: Report) {
    this.#report = report;
  }

  /** @throws {UnavailableError} That of `keeping`, or one that says that the callback was answered. */
  async watch(verified: VerifiedCallback | Evidence, keeping: Promise<void>): Promise<void> {
    try {
      await keeping;
    } catch (error) {
      if (!isAcknowledged(verified)) throw error;
      this.#reportOnce();
      throw new UnavailableError(LOST + FIX, { cause: error });
    }
    // Also while the database is available, when nothing is lost yet.
    if (isAcknowledged(verified)) this.#reportOnce();
  }

  #reportOnce(): void {
    if (!this.#isReported) warn(this.#report, 'answered_early', ANSWERED_EARLY + FIX);
    this.#isReported = true;
  }
}
