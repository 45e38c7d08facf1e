import manifest from '../../package.json' with { type: 'json' };
import type { DeliveryAttempt } from '../state/records.ts';
import { destinationProblem } from './destination.ts';

const LONGEST_ANSWER = 512;

/** What one attempt needs. `fetch` is passed in. */
export interface AttemptOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
}

/** Sends a callback once. Whatever goes wrong is in the result; nothing is thrown. */
export async function attemptDelivery(
  { url, body, signature }: { url: string; body: string; signature: string },
  { fetch, allowedHosts, timeoutMs }: AttemptOptions,
): Promise<Omit<DeliveryAttempt, 'at'>> {
  // Checked again at the time of sending: a state file may be older than the list of hosts.
  const problem = destinationProblem(url, allowedHosts);
  if (problem !== undefined) return { status: null, error: `not sent: the address ${problem}`, answer: '' };
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  let status: number | null = null;
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'hmac-signature': signature,
        'user-agent': `payment-service-sandbox/${manifest.version}`,
      },
      body,
      // A followed redirect would carry the callback to an address that nobody checked.
      redirect: 'manual',
      signal: deadline.signal,
    });
    status = response.status;
    return { status, error: null, answer: await startOf(response) };
  } catch (error) {
    return {
      status,
      error: deadline.signal.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error),
      answer: '',
    };
  } finally {
    clearTimeout(timer);
  }
}

/** The start of the answer; the rest is never read, however long it is. */
async function startOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (value !== undefined) text += decoder.decode(value, { stream: true });
    if (done || text.length >= LONGEST_ANSWER) break;
  }
  await reader.cancel();
  return text.slice(0, LONGEST_ANSWER);
}

/** fetch says "fetch failed" and keeps the reason in its cause, such as ECONNREFUSED. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
