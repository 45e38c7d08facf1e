import type { RefusalCode } from '@payment-service/core';
import type { HttpAnswer } from './http-answer.ts';

/** The parts of a response that must be the same under every framework. */
export interface AnswerRecord {
  readonly status: number;
  readonly body: string;
  /** The content type of a body. */
  readonly type?: string;
  readonly allow?: string;
  /** Recorded only if it is `close`. */
  readonly connection?: 'close';
  readonly location?: string;
  readonly 'retry-after'?: string;
  readonly 'cache-control'?: string;
  readonly 'referrer-policy'?: string;
}

/** Everything that an observer of a scenario sees. */
export interface Outcome {
  /** In the order of their arrival. */
  readonly answers: readonly AnswerRecord[];
  /** The codes that reached `onRefused`. */
  readonly refusals: readonly RefusalCode[];
  /** What reached `onError`: name and message. */
  readonly errors: readonly unknown[];
  /** What reached the handler, or the app's own handler after the adapter. */
  readonly handled: readonly unknown[];
}

export function answerRecord({ status, headers, body }: HttpAnswer): AnswerRecord {
  // Each framework writes the charset of the app's own text differently; core's answers are compared unchanged.
  const type = headers.get('content-type')?.replace(/^(text\/plain);.*$/, '$1');
  return {
    status,
    body,
    ...(body !== '' && type !== undefined && { type }),
    ...(headers.get('connection')?.toLowerCase() === 'close' && { connection: 'close' }),
    ...pick(headers, ['allow', 'location', 'retry-after', 'cache-control', 'referrer-policy']),
  };
}

function pick(headers: ReadonlyMap<string, string>, names: readonly (keyof AnswerRecord)[]): object {
  return Object.fromEntries(names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : [])));
}

const json = (status: number, body: object, rest: Partial<AnswerRecord> = {}): AnswerRecord => ({
  status,
  body: JSON.stringify(body),
  type: 'application/json; charset=utf-8',
  ...rest,
});

type AnswerName =
  | 'accepted'
  | 'passedThrough'
  | 'unauthorized'
  | 'methodNotAllowed'
  | 'requestTimeout'
  | 'contentTooLarge'
  | 'unsupportedMediaType'
  | 'handlerFailed'
  | 'handlerTimeout'
  | 'bodyConsumed'
  | 'unavailable';

/** The responses of core, written once: every framework must send exactly these. */
export const ANSWERS: Readonly<Record<AnswerName, AnswerRecord>> = {
  accepted: json(200, { status: 'accepted' }),
  /** The app's own handler, in pass-through mode. */
  passedThrough: { status: 202, body: 'passed through', type: 'text/plain' },
  unauthorized: json(401, { error: 'unauthorized' }),
  methodNotAllowed: json(405, { error: 'method_not_allowed' }, { allow: 'POST' }),
  requestTimeout: json(408, { error: 'request_timeout' }, { connection: 'close' }),
  contentTooLarge: json(413, { error: 'content_too_large' }, { connection: 'close' }),
  unsupportedMediaType: json(415, { error: 'unsupported_media_type' }),
  handlerFailed: json(429, { error: 'handler_failed' }, { 'retry-after': '30' }),
  handlerTimeout: json(429, { error: 'handler_timeout' }, { 'retry-after': '30' }),
  bodyConsumed: json(429, { error: 'body_consumed' }, { 'retry-after': '30' }),
  /** Without `retry-after`, which the handler chooses. */
  unavailable: json(429, { error: 'unavailable' }),
};

/** The same response, after which the server closes the connection. */
export function closing(answer: AnswerRecord): AnswerRecord {
  return { ...answer, connection: 'close' };
}

/** On every response of a redirect route, so that the signed address reaches no other site and no cache (threat A23). */
export const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } as const;
