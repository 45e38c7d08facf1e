import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { finished } from 'node:stream/promises';
import { inConcert } from './in-concert.ts';
import { OUTCOME } from './serve.ts';

/** What is posted: a callback or, without a signature, a message of the merchant's. */
export interface Message {
  readonly body: string;
  readonly signature?: string;
}

/** A complete response; without a status there was none. */
export interface Answer {
  readonly status?: number | undefined;
  /** How the inbox kept the callback, if the receiver reports it. */
  readonly outcome?: string | undefined;
}

/** Posts every callback once, over connections that stay open. @returns the seconds to the last complete response. */
export async function sendCallbacks(
  port: number,
  callbacks: readonly Message[],
  concurrency: number,
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  try {
    return await inConcert(callbacks, concurrency, (callback) => sendCallback(port, callback, agent));
  } finally {
    agent.destroy();
  }
}

/** @throws {Error} if it is not acknowledged. */
export async function sendCallback(port: number, callback: Message, agent: Agent): Promise<void> {
  const { status } = await post(`http://127.0.0.1:${port}/callbacks`, callback, agent);
  if (status !== 200) throw new Error(`A callback was answered ${status ?? 'incompletely'}, not 200.`);
}

export async function post(
  url: string,
  { body, signature }: Message,
  agent: Agent,
  timeout?: number,
): Promise<Answer> {
  const signed = signature === undefined ? {} : { 'hmac-signature': signature };
  const headers = { 'content-type': 'application/json', ...signed };
  const sent = request(url, { method: 'POST', agent, headers, timeout });
  // Also for an error after the response has begun; it shows as an incomplete response.
  sent.on('error', () => undefined).on('timeout', () => sent.destroy());
  sent.end(body);
  try {
    const [response]: IncomingMessage[] = await once(sent, 'response');
    if (response === undefined) return {};
    await finished(response.resume());
    return { status: response.statusCode, outcome: response.headers[OUTCOME]?.toString() };
  } catch {
    return {};
  }
}
