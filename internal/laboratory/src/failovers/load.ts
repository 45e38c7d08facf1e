import { setTimeout as wait } from 'node:timers/promises';
import { paymentAt } from '../history/payment-plan.ts';
import { HistoryRecord } from '../history/record.ts';
import { type Sending, sendPayment, sendRounds } from '../history/send-payment.ts';
import { Sender } from '../load/sender.ts';

/** How many payments are under way at the same time. */
const AT_ONCE = 16;

export interface LoadOptions {
  readonly addresses: readonly string[];
  /** The file for the history. */
  readonly record: string;
  readonly seed: number;
  /** After each payment, on average: the workers have to keep up on a small machine. */
  readonly pauseMs: number;
}

/**
 * The service and the merchant's shop: expects payments, sends their callbacks, and sends each again until it is answered
 * 200. It runs in the process of the test, which nothing kills, and keeps the history.
 */
export class Load {
  readonly #sending: Sending;
  readonly #loops: readonly Promise<void>[];
  readonly #options: LoadOptions;
  #begun = 0;
  #acknowledged = 0;
  #isStopped = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    const record = new HistoryRecord(options.record);
    this.#sending = { record, sender: new Sender(() => options.addresses, 10) };
    this.#loops = Array.from({ length: AT_ONCE }, () => this.#pay());
  }

  /** Payments of which everything was answered. */
  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Payments that wait for an answer at this moment. */
  get underWay(): number {
    return this.#sending.sender.underWay;
  }

  /** Begins no further payment, and resolves when each that was begun is acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
    this.#sending.sender.close();
    this.#sending.record.close();
  }

  async #pay(): Promise<void> {
    const { seed, pauseMs } = this.#options;
    while (!this.#isStopped) {
      const payment = paymentAt(seed, this.#begun);
      this.#begun += 1;
      await sendPayment(payment, this.#sending);
      this.#acknowledged += 1;
      // The service may repeat a callback, immediately or later.
      if (this.#begun % 4 === 0) await sendRounds(payment, this.#sending);
      await wait(pauseMs * 2 * Math.random());
    }
  }
}
