import type { SignatureCheck } from '@payment-service/core/internal';

/** A program could make a verifier for each request: only the last ones are kept. */
const MAX_CHECKS = 16;

/** The checks of the routes of this process, by which the spool verifies its files again (threat A66, decision D76). */
export class RouteChecks {
  readonly #checks = new Set<SignatureCheck>();
  #known = 0;

  /** How many have become known. */
  get known(): number {
    return this.#known;
  }

  add(check: SignatureCheck): void {
    if (!this.#checks.delete(check)) this.#known += 1;
    this.#checks.add(check);
    const [oldest] = this.#checks;
    if (this.#checks.size > MAX_CHECKS && oldest !== undefined) this.#checks.delete(oldest);
  }

  /** Any route may have received it. One whose ':' rules accept it counts more than one whose rules do not. */
  readonly verify: SignatureCheck = (kept) => {
    const found = [...this.#checks].map((check) => check(kept)).filter((one) => one !== undefined);
    return found.find(({ isAmbiguous }) => !isAmbiguous) ?? found[0];
  };
}
