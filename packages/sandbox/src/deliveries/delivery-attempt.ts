import manifest from '../../package.json' with { type: 'json' };
import { destinationProblem } from '../state/hosts.ts';
import type { DeliveryAttempt, HeaderPair } from '../state/records.ts';
import { type Sender, startOf } from './send.ts';

/** What one attempt needs. */
export interface AttemptOptions {
  readonly sender: Sender;
  readonly allowedHosts: readonly string[];
  readonly timeoutMs: number;
}

type Outcome = Pick<DeliveryAttempt, 'status' | 'response' | 'error' | 'error_code'>;

const NO_ANSWER: Outcome = { status: null, response: null, error: null, error_code: null };

/** Sends a callback once. Whatever goes wrong is in the result; nothing is thrown. */
export async function attemptDelivery(
  { url, body, signature }: { url: string; body: string; signature: string },
  options: AttemptOptions,
): Promise<Omit<DeliveryAttempt, 'at'>> {
  const own: HeaderPair[] = [
    ['content-type', 'application/json'],
    ['hmac-signature', signature],
  ];
  const { headers, ...outcome } = await exchange({ url, headers: own, body }, options);
  return { ...outcome, sent: headers === null ? null : { headers, signature } };
}

/** A request with its own headers; those that carry it are added. */
export interface Message {
  /** @default 'POST' */
  readonly method?: 'GET' | 'POST' | undefined;
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body: string;
}

/** What became of a message, with all headers as they were sent; null when nothing was sent. */
export type Exchanged = Omit<DeliveryAttempt, 'at' | 'sent'> & { readonly headers: HeaderPair[] | null };

/** Sends a message on a connection of its own. Whatever goes wrong is in the result; nothing is thrown. */
export async function exchange(
  { method = 'POST', url, headers: own, body }: Message,
  { sender, allowedHosts, timeoutMs }: AttemptOptions,
): Promise<Exchanged> {
  // Checked again at the time of sending: a state file may be older than the list of hosts.
  const problem = destinationProblem(url, allowedHosts);
  if (problem !== undefined) {
    const error = `not sent: the address ${problem}`;
    return { ...NO_ANSWER, ms: null, headers: null, error, error_code: 'NOT_SENT' };
  }
  const address = new URL(url);
  const bytes = new TextEncoder().encode(body);
  const headers: HeaderPair[] = [
    ...sender.framing(address, bytes),
    ['user-agent', `payment-service-sandbox/${manifest.version}`],
    ...own,
  ];
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  const started = performance.now();
  let outcome = NO_ANSWER;
  try {
    const { signal } = deadline;
    const received = await sender.send({ method, url: address, headers, body: bytes, signal });
    const { status } = received;
    const announced = received.headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1];
    const length = announced === undefined ? null : Number(announced);
    outcome = {
      ...NO_ANSWER,
      status,
      response: { headers: received.headers, body: '', bytes: length, is_cut: true },
    };
    const start = await startOf(received.body);
    const response = { headers: received.headers, ...start, bytes: start.bytes ?? length };
    outcome = { ...NO_ANSWER, status, response };
  } catch (error) {
    outcome = deadline.signal.aborted
      ? { ...outcome, error: `no answer within ${timeoutMs} ms`, error_code: 'TIMEOUT' }
      : { ...outcome, ...reasonOf(error) };
  } finally {
    clearTimeout(timer);
  }
  return { ...outcome, ms: Math.round(performance.now() - started), headers };
}

/** fetch says "fetch failed" and keeps the reason in its cause, such as ECONNREFUSED. */
function reasonOf(error: unknown): { error: string; error_code: string | null } {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') {
    return { error: cause.code, error_code: cause.code };
  }
  return { error: cause instanceof Error ? cause.message : String(cause), error_code: null };
}
