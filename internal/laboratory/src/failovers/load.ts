import { setTimeout as wait } from 'node:timers/promises';
import { Sender } from '../load/sender.ts';
import { type Payment, paymentAt } from './payments.ts';

/** How many payments are under way at the same time. */
const AT_ONCE = 16;
/** After each payment, on average: the workers have to keep up on a small machine. */
const PAUSE_MS = 60;

/**
 * The service and the merchant's shop: expects payments, sends their callbacks, and sends each again until it is answered
 * 200. It runs in the process of the test, which nothing kills, and keeps the record of what was acknowledged.
 */
export class Load {
  readonly #sender: Sender;
  readonly #acknowledged = new Set<string>();
  readonly #loops: readonly Promise<void>[];
  #begun = 0;
  #answers = 0;
  #underWay = 0;
  #isStopped = false;

  constructor(addresses: readonly string[]) {
    this.#sender = new Sender(() => addresses, 10);
    this.#loops = Array.from({ length: AT_ONCE }, () => this.#pay());
  }

  /** References of the payments whose expectation and callback were acknowledged. */
  get acknowledged(): ReadonlySet<string> {
    return this.#acknowledged;
  }

  /** Answers of 200, repetitions included. */
  get answers(): number {
    return this.#answers;
  }

  /** Requests that got no answer, or another one. */
  get failures(): number {
    return this.#sender.failures;
  }

  /** Callbacks that wait for their answer at this moment. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Begins no further payment, and resolves when each that was begun is acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
    this.#sender.close();
  }

  async #pay(): Promise<void> {
    while (!this.#isStopped) {
      const index = this.#begun;
      this.#begun += 1;
      const payment = paymentAt(index);
      await this.#sender.untilAnswered('/expectations', 204, { body: JSON.stringify(payment.expectation) });
      await this.#deliver(payment);
      this.#acknowledged.add(payment.reference);
      // The service may repeat a callback, immediately or later.
      if (index % 4 === 0) await this.#deliver(payment);
      await wait(PAUSE_MS * 2 * Math.random());
    }
  }

  /** Every third callback comes twice at the same moment. */
  async #deliver(payment: Payment): Promise<void> {
    const times = Math.random() < 0.3 ? 2 : 1;
    await Promise.all(
      Array.from({ length: times }, async () => {
        this.#underWay += 1;
        await this.#sender.untilAnswered('/callbacks', 200, payment);
        this.#underWay -= 1;
        this.#answers += 1;
      }),
    );
  }
}
