import { appendFileSync, closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Answer as Answered, type Message, post } from '../load/sender.ts';
import { monotonicMs } from '../measure/measure.ts';
import type { Answer, Request } from './judge-history.ts';
import { type Payment, paymentAt } from './payment-plan.ts';

/** A receiver that does not respond was killed, or is waiting for a killed database. */
const ANSWER_MS = 10_000;

export interface LoadOptions {
  /** The addresses of the receivers that are currently listening. */
  readonly addresses: () => readonly string[];
  /** The file for the history. */
  readonly record: string;
  readonly seed: number;
  /** How many payments are under way at the same time. */
  readonly atOnce: number;
  /** The delay before a request is repeated; it doubles, up to twentyfold. */
  readonly firstDelayMs: number;
  /** The average pause after each payment, so that the workers keep up on a small machine. @default 0 */
  readonly pauseMs?: number;
  /** How many payments there are. @default as many as are sent before the end */
  readonly payments?: number;
  /**
   * The service may repeat anything at any time: here the callbacks of one in `every` payments, after `later` others have
   * begun.
   */
  readonly repeats: { readonly every: number; readonly later: number };
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
  isDone = false;
  /** Requests that are currently waiting for a response. */
  underWay = 0;
  readonly #options: LoadOptions;
  readonly #record: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #ended: Promise<void>;
  #payments: number;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#payments = options.payments ?? Number.POSITIVE_INFINITY;
    this.#record = openSync(options.record, 'a');
    this.#ended = this.#payAll();
  }

  /** Begins no more payments, and resolves when every payment that has begun is acknowledged. */
  async stop(): Promise<void> {
    this.#payments = this.begun;
    await this.#ended;
  }

  async #payAll(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.atOnce }, () => this.#pay()));
    this.#agent.destroy();
    closeSync(this.#record);
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
      const payment = paymentAt(seed, index);
      if (payment.expectation?.isLate === false) await this.#expect(payment);
      await this.#callBack(payment);
      if (payment.expectation?.isLate === true) await this.#expect(payment);
      this.acknowledged += 1;
      const repeated = index - repeats.later;
      if (repeated >= 0 && index % repeats.every === 0) await this.#callBack(paymentAt(seed, repeated));
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
    const { addresses, firstDelayMs } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const all = addresses();
      const address = all[Math.floor(Math.random() * all.length)];
      if (address !== undefined) {
        const began = monotonicMs();
        this.underWay += 1;
        const answered = await post(`${address}${path}`, message, this.#agent, ANSWER_MS);
        this.underWay -= 1;
        const request: Request = { ...facts, began, ended: monotonicMs(), answer: answerIn(answered) };
        appendFileSync(this.#record, `${JSON.stringify(request)}\n`);
        if (answered.status === wanted) return;
      }
      await wait(firstDelayMs * Math.min(2 ** attempt, 20) * (0.5 + Math.random()));
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

/** Reads the history written by a load. */
export async function readRequests(path: string): Promise<readonly Request[]> {
  const requests: Request[] = [];
  const file = await open(path);
  for await (const line of file.readLines()) requests.push(JSON.parse(line));
  return requests;
}
