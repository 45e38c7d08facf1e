import { Agent, request } from 'node:http';
import type { WireCallback } from './callbacks.ts';
import { inConcert, type Timed } from './in-concert.ts';

/** Posts every callback once, over connections that stay open, and times each from the request to the whole answer. */
export async function sendCallbacks(
  port: number,
  callbacks: readonly WireCallback[],
  concurrency: number,
): Promise<Timed> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  try {
    return await inConcert(callbacks, concurrency, (callback) => post(port, callback, agent));
  } finally {
    agent.destroy();
  }
}

export function post(port: number, { body, signature }: WireCallback, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'hmac-signature': signature,
    };
    const sent = request({ port, host: '127.0.0.1', method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200
          ? resolve()
          : reject(new Error(`A callback was answered ${response.statusCode}, not 200.`)),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
