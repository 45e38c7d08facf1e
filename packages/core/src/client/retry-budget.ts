const CAPACITY = 10;
const DEPOSIT_PER_CALL = 0.1;

/**
 * Keeps a client from multiplying the load on a service that is down: retries are paid from a bucket of 10 tokens,
 * and every call puts a tenth of one back. Whatever `maxAttempts` says, retries stay within a tenth of the calls, after
 * a burst of 10.
 */
export class RetryBudget {
  #tokens: number = CAPACITY;

  /** Once per call. */
  deposit(): void {
    this.#tokens = Math.min(CAPACITY, this.#tokens + DEPOSIT_PER_CALL);
  }

  /** Pays for one retry, or answers false. */
  take(): boolean {
    // Ten deposits of 0.1 add up to a little less than 1 in binary.
    if (this.#tokens < 1 - 1e-9) return false;
    this.#tokens -= 1;
    return true;
  }
}
