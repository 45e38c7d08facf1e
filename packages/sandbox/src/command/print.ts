import { styleText } from 'node:util';
import type { Explanation } from '@payment-service/core/explain';
import { printable } from '@payment-service/core/internal';
import { counted, spark, utc } from '@payment-service/pages';
import type { SandboxAttempt, SandboxDelivery } from '../service/views.ts';
import type { CheckReport } from '../state/records.ts';
import { lookAt } from './endpoint.ts';

type Stream = NodeJS.WriteStream;

const TONE_COLOURS = { good: 'green', bad: 'red', neutral: 'yellow' } as const;
const VERDICT_COLOURS = { pass: 'green', warn: 'yellow', fail: 'red' } as const;
const MAX_ANSWER = 200;

/**
 * Prints what each delivery sent, the response, its reason, and what else was observed about an endpoint that did not accept
 * it.
 */
export async function printDeliveries(deliveries: readonly SandboxDelivery[], stream: Stream): Promise<void> {
  for (const delivery of deliveries) {
    const { id, url, misbehaves, attempts, signed, due_at } = delivery;
    const wrong = misbehaves.length === 0 ? '' : ` (${misbehaves.join(', ')})`;
    stream.write('\n');
    print(stream, `Delivery ${id} to ${url}${wrong}`);
    print(stream, `  ${signed.event}  ${signed.merchant_reference}  ${signed.transaction_status}`);
    const attempt = attempts.at(-1);
    if (attempt === undefined) {
      print(stream, `  not sent yet: ${due_at ?? 'it waits for another delivery'}`);
      continue;
    }
    const { title, detail, fix, docs, tone } = attempt.outcome;
    print(stream, `  ${answerOf(attempt)}`);
    print(stream, `  ${title}`, TONE_COLOURS[tone]);
    const page = tone === 'bad' ? docs : '';
    for (const text of [detail, fix, page]) if (text !== '') print(stream, `  ${text}`);
    const seen = wentWrong(delivery) ? await lookAt(delivery) : undefined;
    if (seen !== undefined) print(stream, `  ${seen}`, 'yellow');
  }
}

/**
 * One line for each attempt of a delivery, as it is made: `10:31:05  ORD-1  COMPLETED  200 in 4 ms  The callback was accepted.`
 * For each cause other than success, the first line is followed by what was observed and what to do.
 *
 * @returns `tell` for each attempt; `told` resolves when all of them are printed.
 */
export function createStory(stream: Stream): {
  tell(delivery: SandboxDelivery): void;
  told(): Promise<void>;
} {
  const explained = new Set<string>();
  let last = Promise.resolve();
  const write = async (delivery: SandboxDelivery): Promise<void> => {
    const { url, misbehaves, attempts, signed } = delivery;
    const attempt = attempts.at(-1);
    if (attempt === undefined) return;
    const { title, detail, fix, docs, tone, cause } = attempt.outcome;
    const wrong = misbehaves.length === 0 ? [] : [`(${misbehaves.join(', ')})`];
    const again = attempts.length === 1 ? [] : [`attempt ${attempts.length}`];
    const what = [signed.merchant_reference, signed.transaction_status, ...wrong, ...again];
    const line = [utc(Date.parse(attempt.at)).slice(11, 19), ...what, statusOf(attempt), title];
    print(stream, line.join('  '), TONE_COLOURS[tone]);
    if (tone === 'good' || explained.has(cause)) return;
    explained.add(cause);
    const seen = tone === 'bad' ? await lookAt(delivery) : undefined;
    const answer =
      attempt.status === null ? '' : `It was sent to ${url}, which answered: ${answerOf(attempt)}`;
    for (const text of [answer, detail, fix, seen ?? '', docs]) if (text !== '') print(stream, INDENT + text);
  };
  return {
    tell: (delivery) => {
      last = last.then(() => write(delivery));
    },
    told: () => last,
  };
}

const MINUTE = 60_000;
const INDENT = '  ';

/**
 * Prints the number of deliveries and of failures, and a bar for each of the last minutes. Prints only on a terminal, since
 * another program may read a pipe.
 */
export function printSummary(deliveries: readonly SandboxDelivery[], stream: Stream): void {
  const minutes = deliveries.flatMap(({ attempts }) =>
    attempts.slice(-1).map(({ at }) => Math.floor(Date.parse(at) / MINUTE)),
  );
  if (!stream.isTTY || minutes.length === 0) return;
  const last = Math.max(...minutes);
  const width = Math.min(60, stream.columns - INDENT.length);
  const first = Math.max(Math.min(...minutes), last - width + 1);
  const values = Array.from(
    { length: last - first + 1 },
    (_, index) => minutes.filter((minute) => minute === first + index).length,
  );
  const failed = deliveries.filter(wentWrong).length;
  const total = counted(minutes.length, 'delivery', 'deliveries');
  const since = utc(first * MINUTE).slice(11, 16);
  stream.write('\n');
  print(stream, `${total}, ${failed === 0 ? 'none' : failed} failed. Each minute since ${since} UTC:`);
  print(stream, INDENT + spark(values), failed === 0 ? 'green' : 'red');
}

/** Prints why a callback verifies or does not. */
export function printExplanation({ ok, title, detail, fix, docs }: Explanation, stream: Stream): void {
  print(stream, title, ok ? 'green' : 'red');
  for (const text of [detail, fix, docs]) print(stream, text);
}

/** Whether the newest attempt of a delivery failed. */
export const wentWrong = ({ attempts }: SandboxDelivery): boolean => attempts.at(-1)?.outcome.tone === 'bad';

/** Prints one line for each case, with what to do below it. */
export function printCheck({ url, ok, results }: CheckReport, stream: Stream): void {
  print(stream, `Check of ${url}`);
  const widthOf = (name: 'title' | 'expected'): number =>
    Math.max(...results.map((result) => result[name].length));
  const [title, expected] = [widthOf('title'), widthOf('expected')];
  for (const result of results) {
    const line = `  ${result.verdict}  ${result.title.padEnd(title)}  ${result.expected.padEnd(expected)}  ${result.got}`;
    print(stream, line, VERDICT_COLOURS[result.verdict]);
    if (result.fix !== '') print(stream, `        ${result.fix}`);
  }
  const failed = results.filter(({ verdict }) => verdict === 'fail').length;
  const last = ok ? 'No case failed.' : `${failed} of ${results.length} cases failed.`;
  print(stream, last, ok ? 'green' : 'red');
}

function answerOf({ response, ...attempt }: SandboxAttempt): string {
  if (attempt.status === null) return statusOf(attempt);
  const body = response?.body.trim().replace(/\s+/g, ' ') ?? '';
  const shown = body.length > MAX_ANSWER ? `${body.slice(0, MAX_ANSWER)}…` : body;
  return `${statusOf(attempt)}  ${shown}`;
}

function statusOf({ status, error, ms }: Pick<SandboxAttempt, 'status' | 'error' | 'ms'>): string {
  if (status === null) return `no answer: ${error}`;
  return `${status}${ms === null ? '' : ` in ${ms} ms`}`;
}

/** One line, since a response is another program's output. */
function print(stream: Stream, text: string, colour?: 'green' | 'red' | 'yellow'): void {
  const line = printable(text);
  // Without colours in a pipe, and where NO_COLOR is set.
  stream.write(`${colour === undefined ? line : styleText(colour, line, { stream })}\n`);
}
