import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Payment, paymentAt } from './payments.ts';

/** How many payments are under way at the same time. */
const AT_ONCE = 16;
/** After each payment, on average: the workers have to keep up on a small machine. */
const PAUSE_MS = 60;
/** A receiver that does not answer waits for a database that was killed. */
const ANSWER_MS = 10_000;

/**
 * The service and the merchant's shop: expects payments, sends their callbacks, and sends each again until it is answered
 * 200. It runs in the process of the test, which nothing kills, and keeps the record of what was acknowledged.
 */
export class Load {
  readonly #addresses: readonly string[];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #acknowledged = new Set<string>();
  readonly #loops: readonly Promise<void>[];
  #begun = 0;
  #answers = 0;
  #failures = 0;
  #underWay = 0;
  #isStopped = false;

  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
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
    return this.#failures;
  }

  /** Callbacks that wait for their answer at this moment. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Begins no further payment, and resolves when each that was begun is acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
    this.#agent.destroy();
  }

  async #pay(): Promise<void> {
    while (!this.#isStopped) {
      const index = this.#begun;
      this.#begun += 1;
      const payment = paymentAt(index);
      await this.#untilAnswered('/expectations', 204, { body: JSON.stringify(payment.expectation) });
      await this.#deliver(payment);
      this.#acknowledged.add(payment.reference);
      // The service may repeat a callback, at once or later.
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
        await this.#untilAnswered('/callbacks', 200, payment);
        this.#underWay -= 1;
        this.#answers += 1;
      }),
    );
  }

  async #untilAnswered(
    path: string,
    wanted: number,
    message: { readonly body: string; readonly signature?: string },
  ): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const address = this.#addresses[Math.floor(Math.random() * this.#addresses.length)];
      if ((await post(`${address}${path}`, message, this.#agent)) === wanted) return;
      this.#failures += 1;
      await wait(Math.min(10 * 2 ** attempt, 200) * (0.5 + Math.random()));
    }
  }
}

/** @returns the status; undefined when no whole answer came. */
function post(
  url: string,
  { body, signature }: { readonly body: string; readonly signature?: string },
  agent: Agent,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(signature === undefined ? {} : { 'hmac-signature': signature }),
    };
    const sent = request(url, { method: 'POST', agent, headers, timeout: ANSWER_MS }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.complete ? response.statusCode : undefined));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}
