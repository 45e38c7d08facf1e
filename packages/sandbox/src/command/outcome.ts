import { styleText } from 'node:util';
import { explainOutcome, type Outcome } from '@payment-service/core/explain';
import type { SandboxAttempt, SandboxDelivery } from '../service/views.ts';
import type { FoundKeys } from './keys.ts';

type Keys = FoundKeys['variables'];
type Stream = NodeJS.WriteStream;

const COLOURS = { good: 'green', bad: 'red', neutral: 'yellow' } as const;
const MAX_ANSWER = 200;

/** Prints what each delivery sent, what came back, and why. */
export function printDeliveries(deliveries: readonly SandboxDelivery[], keys: Keys, stream: Stream): void {
  for (const delivery of deliveries) {
    const { id, url, misbehaves, attempts, signed } = delivery;
    const wrong = misbehaves.length === 0 ? '' : ` (${misbehaves.join(', ')})`;
    stream.write('\n');
    print(stream, `Delivery ${id} to ${url}${wrong}`);
    print(stream, `  ${signed.event}  ${signed.merchant_reference}  ${signed.transaction_status}`);
    const attempt = attempts.at(-1);
    if (attempt === undefined) {
      print(stream, `  not sent yet: ${delivery.due_at ?? 'it waits for another delivery'}`);
      continue;
    }
    print(stream, `  ${answerOf(attempt)}`);
    const outcome = outcomeOf(delivery, attempt, keys);
    print(stream, `  ${outcome.title}`, COLOURS[outcome.tone]);
    for (const text of [outcome.detail, outcome.fix]) if (text !== '') print(stream, `  ${text}`);
  }
}

/** Deliveries with the outcome of their newest attempts, for programs. */
export function withOutcomes(deliveries: readonly SandboxDelivery[], keys: Keys): object[] {
  return deliveries.map((delivery) => {
    const attempt = delivery.attempts.at(-1);
    return { ...delivery, outcome: attempt === undefined ? null : outcomeOf(delivery, attempt, keys) };
  });
}

/** How the newest attempt went; neutral when there is none. */
export function toneOf(delivery: SandboxDelivery, keys: Keys): Outcome['tone'] {
  const attempt = delivery.attempts.at(-1);
  return attempt === undefined ? 'neutral' : outcomeOf(delivery, attempt, keys).tone;
}

/** JSON for programs; escapes what a terminal could take for a command and JSON leaves as it is. */
export function printJson(value: unknown): void {
  const text = JSON.stringify(value, undefined, 2);
  console.log(text.replace(/[\u007F-\u009F]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`));
}

function outcomeOf(delivery: SandboxDelivery, attempt: SandboxAttempt, keys: Keys): Outcome {
  const { request, response, status, error, error_code, ms } = attempt;
  const { SIGNING_KEY, PUBLIC_KEY, SECRET_KEY } = keys;
  return explainOutcome(
    {
      request: {
        url: delivery.url,
        method: 'POST',
        headers: request?.headers ?? [],
        body: delivery.body,
        isForged: forgeryOf(delivery, attempt),
      },
      ...(status === null
        ? {}
        : { response: { status, headers: response?.headers ?? [], body: response?.body } }),
      ...(error === null ? {} : { error: error_code === null ? error : `${error_code}: ${error}` }),
      ...(ms === null ? {} : { durationMs: ms }),
    },
    SIGNING_KEY === undefined
      ? undefined
      : { signingKey: SIGNING_KEY, publicKey: PUBLIC_KEY, secretKey: SECRET_KEY },
    // By the sandbox's clock, which may have been moved.
    { now: () => Date.parse(attempt.at) },
  );
}

/** What the sandbox has changed on purpose, from its own words. */
const FORGERIES: readonly [RegExp, 'amount' | 'currency' | 'timestamp'][] = [
  [/^forged amount$/, 'amount'],
  [/^forged currency$/, 'currency'],
  [/^t -?\d+ seconds off$/, 'timestamp'],
];

function forgeryOf({ misbehaves }: SandboxDelivery, { request }: SandboxAttempt) {
  if (request?.key === 'other') return 'signature';
  return FORGERIES.find(([words]) => misbehaves.some((word) => words.test(word)))?.[1];
}

function answerOf({ status, error, ms, response }: SandboxAttempt): string {
  if (status === null) return `no answer: ${error}`;
  const body = response?.body.trim().replace(/\s+/g, ' ') ?? '';
  const shown = body.length > MAX_ANSWER ? `${body.slice(0, MAX_ANSWER)}…` : body;
  return `${status}${ms === null ? '' : ` in ${Math.round(ms)} ms`}  ${shown}`;
}

/** One line, without what could move a terminal's cursor: an answer is another program's text. */
export function print(stream: Stream, text: string, colour?: 'green' | 'red' | 'yellow'): void {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
  // Without colours in a pipe, and where NO_COLOR is set.
  stream.write(`${colour === undefined ? line : styleText(colour, line, { stream })}\n`);
}
