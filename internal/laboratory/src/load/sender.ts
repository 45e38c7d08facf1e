import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { inConcert, type Timed } from './in-concert.ts';

/** What is posted: a callback, or without a signature something of the merchant's. */
export interface Message {
  readonly body: string;
  readonly signature?: string;
}

/** A receiver that does not answer was killed, or waits for a database that was. */
const ANSWER_MS = 10_000;

/** The service, and the merchant's shop: sends each message again until it is acknowledged. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #addresses: () => readonly string[];
  readonly #firstDelayMs: number;
  /** Requests without an answer, or with another one: the sender's view of the failures. */
  failures = 0;

  /** @param firstDelayMs before a repetition; it doubles up to twentyfold. */
  constructor(addresses: () => readonly string[], firstDelayMs: number) {
    this.#addresses = addresses;
    this.#firstDelayMs = firstDelayMs;
  }

  async untilAnswered(path: string, wanted: number, message: Message): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const addresses = this.#addresses();
      const address = addresses[Math.floor(Math.random() * addresses.length)];
      const url = `${address}${path}`;
      if (address !== undefined && (await post(url, message, this.#agent, ANSWER_MS)) === wanted) return;
      this.failures += 1;
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
  const status = await post(`http://127.0.0.1:${port}/callbacks`, callback, agent);
  if (status !== 200) throw new Error(`A callback was answered ${status ?? 'incompletely'}, not 200.`);
}

/** @returns the status; undefined without a whole answer. */
function post(
  url: string,
  { body, signature }: Message,
  agent: Agent,
  timeout?: number,
): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(signature === undefined ? {} : { 'hmac-signature': signature }),
    };
    const sent = request(url, { method: 'POST', agent, headers, timeout }, (response) => {
      response.resume();
      response.on('error', () => resolve(undefined));
      response.on('end', () => resolve(response.complete ? response.statusCode : undefined));
      response.on('close', () => resolve(undefined));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}
