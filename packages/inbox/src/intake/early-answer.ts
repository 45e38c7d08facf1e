import { type Evidence, UnavailableError, type VerifiedCallback } from '@payment-service/core';
import { isAcknowledged } from '@payment-service/core/internal';
import { type Report, warn } from '../reporting/problems.ts';

const FIX =
  'Return the promise, as in onCallback: (callback) => inbox.route.onCallback(callback), or spread inbox.route into ' +
  'paymentCallbacks().';
const ANSWERED_EARLY =
  'The program answered 200 before the inbox had kept a callback, so callbacks are lost while the database is unavailable. ';
const LOST =
  'The program answered 200 before the inbox had kept this callback, and it could not be kept. The sender does not know, and may ' +
  'not send it again. ';

/** Notices a handler that drops the promise of `inbox.route.onCallback()`: the route then answers before it resolves (threat A82). */
export class EarlyAnswers {
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
