import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { monotonicMs } from '../measure/measure.ts';
import { inConcert, type Timed } from './in-concert.ts';
import { OUTCOME } from './serve.ts';

/** What is posted: a callback, or without a signature something of the merchant's. */
export interface Message {
  readonly body: string;
  readonly signature?: string;
}

/** A whole answer; without a status there was none. */
interface Answer {
  readonly status: number | undefined;
  /** How the inbox kept the callback, where the receiver says so. */
  readonly outcome: string | undefined;
}

/** With the times of its request and of its end. */
export interface Attempt extends Answer {
  readonly began: number;
  readonly ended: number;
}

const NO_ANSWER: Answer = { status: undefined, outcome: undefined };

/** A receiver that does not answer was killed, or waits for a database that was. */
const ANSWER_MS = 10_000;

/** The service, and the merchant's shop: sends each message again until it is acknowledged. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #addresses: () => readonly string[];
  readonly #firstDelayMs: number;
  /** Requests that wait for their answer at this moment. */
  underWay = 0;

  /** @param firstDelayMs before a repetition; it doubles up to twentyfold. */
  constructor(addresses: () => readonly string[], firstDelayMs: number) {
    this.#addresses = addresses;
    this.#firstDelayMs = firstDelayMs;
  }

  /** @param onAttempt told of every attempt that had somewhere to go. */
  async untilAnswered(
    path: string,
    wanted: number,
    message: Message,
    onAttempt: (attempt: Attempt) => void,
  ): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const addresses = this.#addresses();
      const address = addresses[Math.floor(Math.random() * addresses.length)];
      if (address !== undefined) {
        const began = monotonicMs();
        this.underWay += 1;
        const answer = await post(`${address}${path}`, message, this.#agent, ANSWER_MS);
        this.underWay -= 1;
        onAttempt({ ...answer, began, ended: monotonicMs() });
        if (answer.status === wanted) return;
      }
      await wait(this.#firstDelayMs * Math.min(2 ** attempt, 20) * (0.5 + Math.random()));
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Posts every callback once, over connections that stay open, and times each from the request to the whole answer. */
export async function sendCallbacks(
  port: number,
  callbacks: readonly Message[],
  concurrency: number,
): Promise<Timed> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  try {
    return await inConcert(callbacks, concurrency, (callback) => sendCallback(port, callback, agent));
  } finally {
    agent.destroy();
  }
}

/** @throws {Error} when it is not acknowledged. */
export async function sendCallback(port: number, callback: Message, agent: Agent): Promise<void> {
  const { status } = await post(`http://127.0.0.1:${port}/callbacks`, callback, agent);
  if (status !== 200) throw new Error(`A callback was answered ${status ?? 'incompletely'}, not 200.`);
}

function post(url: string, { body, signature }: Message, agent: Agent, timeout?: number): Promise<Answer> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(signature === undefined ? {} : { 'hmac-signature': signature }),
    };
    const sent = request(url, { method: 'POST', agent, headers, timeout }, (response) => {
      response.resume();
      response.on('error', () => resolve(NO_ANSWER));
      response.on('end', () => {
        const outcome = response.headers[OUTCOME]?.toString();
        resolve(response.complete ? { status: response.statusCode, outcome } : NO_ANSWER);
      });
      response.on('close', () => resolve(NO_ANSWER));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(NO_ANSWER));
    sent.end(body);
  });
}
