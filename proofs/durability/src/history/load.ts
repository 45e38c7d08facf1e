import { appendFileSync, readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer as Answered, type Message, post } from '../load/sender.ts';
import { monotonicMs } from '../measure/measure.ts';
import type { Answer, Request } from './judge-history.ts';
import { type Payment, paymentAt } from './payment-plan.ts';

/** A receiver that does not respond was killed, or is waiting for a killed database. */
const ANSWER_MS = 10_000;
/** Payments under way at the same time. */
const AT_ONCE = 20;
/** The delay before a request is repeated; it doubles, up to twentyfold. */
const FIRST_DELAY_MS = 10;
/**
 * The service may repeat anything at any time: here the callbacks of one in `EVERY` payments, after `LATER` others have begun.
 */
const [EVERY, LATER] = [10, 50];

export interface LoadOptions {
  /** The addresses of the receivers that are currently listening. */
  readonly addresses: () => readonly string[];
  /** The file for the history. */
  readonly record: string;
  readonly seed: number;
  /** The average pause after each payment, so that the workers keep up on a small machine. @default 0 */
  readonly pauseMs?: number | undefined;
}

/**
 * The service and the merchant's shop: announces payments, sends their callbacks, and repeats each until the response is 200.
 * It runs in a process that nothing kills, and keeps the history in an append-only file, not in a database, so that nothing
 * that loses a callback can also lose its line.
 */
export class Load {
  /** For now, no payment with this or a higher number begins. */
  limit = 0;
  begun = 0;
  /** Payments for which every request was answered. */
  acknowledged = 0;
  /** Requests that are currently waiting for a response. */
  underWay = 0;
  /** Whether the limit is the end. */
  isEnding = false;
  readonly #options: LoadOptions;
  readonly #agent = new Agent({ keepAlive: true });
  /** Whether every payment is acknowledged. */
  isDone = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    void this.#payAll();
  }

  /** The history so far. */
  requests(): readonly Request[] {
    const lines = readFileSync(this.#options.record, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line));
  }

  async #payAll(): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.#pay()));
    this.#agent.destroy();
    this.isDone = true;
  }

  async #pay(): Promise<void> {
    const { seed, pauseMs = 0 } = this.#options;
    while (!this.isEnding || this.begun < this.limit) {
      if (this.begun >= this.limit) {
        await wait(5);
        continue;
      }
      const index = this.begun;
      this.begun += 1;
      const payment = paymentAt(seed, index);
      if (payment.expectation?.isLate === false) await this.#expect(payment);
      await this.#callBack(payment);
      if (payment.expectation?.isLate === true) await this.#expect(payment);
      this.acknowledged += 1;
      if (index >= LATER && index % EVERY === 0) await this.#callBack(paymentAt(seed, index - LATER));
      await wait(pauseMs * 2 * Math.random());
    }
  }

  async #expect({ expectation, reference }: Payment): Promise<void> {
    const { currency = '', amount = '' } = expectation ?? {};
    const body = JSON.stringify([{ merchant_reference: reference, currency, amount }]);
    const facts = { kind: 'expectation', payment: reference, money: `${currency} ${amount}` } as const;
    await this.#send('/expectations', 204, { body }, facts);
  }

  async #callBack({ kind, rounds }: Payment): Promise<void> {
    const wanted = kind === 'refused' ? 401 : 200;
    for (const round of rounds)
      await Promise.all(
        round.map((one) => this.#send('/callbacks', wanted, one, { kind: 'callback', ...one.facts })),
      );
  }

  /** Repeats a message until the response has the wanted status. */
  async #send(
    path: string,
    wanted: number,
    message: Message,
    facts: Omit<Request, 'began' | 'ended' | 'answer'>,
  ): Promise<void> {
    const { addresses, record } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const all = addresses();
      const address = all[Math.floor(Math.random() * all.length)];
      if (address !== undefined) {
        const began = monotonicMs();
        this.underWay += 1;
        const answered = await post(`${address}${path}`, message, this.#agent, ANSWER_MS);
        this.underWay -= 1;
        const request: Request = { ...facts, began, ended: monotonicMs(), answer: answerIn(answered) };
        appendFileSync(record, `${JSON.stringify(request)}\n`);
        if (answered.status === wanted) return;
      }
      await wait(FIRST_DELAY_MS * Math.min(2 ** attempt, 20) * (0.5 + Math.random()));
    }
  }
}

/** Only the inbox's events tell how it kept a callback. There are none for an expectation, or for a callback in the spool. */
function answerIn({ status, outcome }: Answered): Answer {
  if (status === 401) return 'refused';
  if (status !== 200 && status !== 204) return 'none';
  if (outcome === undefined) return 'acknowledged';
  return outcome === 'known' ? 'repetition' : 'first';
}
