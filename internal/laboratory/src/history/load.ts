import { setTimeout as wait } from 'node:timers/promises';
import { Sender } from '../load/sender.ts';
import { paymentAt } from './payment-plan.ts';
import { HistoryRecord } from './record.ts';
import { type Sending, sendPayment, sendRounds } from './send-payment.ts';

export interface LoadOptions {
  /** Of the receivers that listen at the moment. */
  readonly addresses: () => readonly string[];
  /** The file for the history. */
  readonly record: string;
  readonly seed: number;
  /** How many payments are under way at the same time. */
  readonly atOnce: number;
  /** Before a request is repeated; it doubles up to twentyfold. */
  readonly firstDelayMs: number;
  /** After each payment, on average: the workers have to keep up on a small machine. @default 0 */
  readonly pauseMs?: number;
  /** Of `limit`, at first. @default none */
  readonly limit?: number;
  /** How many payments there are. @default as many as are sent before the end */
  readonly payments?: number;
  /** The service may repeat anything at any time: the callbacks of each so-manieth payment, when so many others have begun. */
  readonly repeats: { readonly every: number; readonly later: number };
}

/**
 * The service and the merchant's shop: expects payments, sends their callbacks, and sends each again until it is answered
 * 200. It runs in the process of the test, which nothing kills, and keeps the history.
 */
export class Load {
  /** Begins no payment from this number on, for now. */
  limit: number;
  begun = 0;
  /** Payments of which everything was answered. */
  acknowledged = 0;
  isDone = false;
  readonly #options: LoadOptions;
  readonly #sending: Sending;
  readonly #loops: Promise<void>;
  #payments: number;

  constructor(options: LoadOptions) {
    const { addresses, record, atOnce, firstDelayMs, payments = Number.POSITIVE_INFINITY } = options;
    this.#options = options;
    this.limit = options.limit ?? Number.POSITIVE_INFINITY;
    this.#payments = payments;
    this.#sending = { record: new HistoryRecord(record), sender: new Sender(addresses, firstDelayMs) };
    this.#loops = this.#payAll(atOnce);
  }

  /** Requests that wait for an answer at this moment. */
  get underWay(): number {
    return this.#sending.sender.underWay;
  }

  /** Begins no further payment, and resolves when each that was begun is acknowledged. */
  async stop(): Promise<void> {
    this.#payments = this.begun;
    await this.#loops;
  }

  async #payAll(atOnce: number): Promise<void> {
    await Promise.all(Array.from({ length: atOnce }, () => this.#pay()));
    this.#sending.sender.close();
    this.#sending.record.close();
    this.isDone = true;
  }

  async #pay(): Promise<void> {
    const { seed, pauseMs = 0, repeats } = this.#options;
    while (this.begun < this.#payments) {
      if (this.begun >= this.limit) {
        await wait(5);
        continue;
      }
      const index = this.begun;
      this.begun += 1;
      await sendPayment(paymentAt(seed, index), this.#sending);
      this.acknowledged += 1;
      const repeated = index - repeats.later;
      if (repeated >= 0 && index % repeats.every === 0)
        await sendRounds(paymentAt(seed, repeated), this.#sending);
      await wait(pauseMs * 2 * Math.random());
    }
  }
}
