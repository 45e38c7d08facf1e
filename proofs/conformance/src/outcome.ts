import type { RefusalCode } from '@payment-service/core';
import type { Mode } from './application.ts';
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
  readonly 'content-security-policy'?: string;
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
  const names = ['allow', 'location', 'retry-after', ...Object.keys(PAGE_HEADERS)];
  return {
    status,
    body,
    ...(body !== '' && type !== undefined && { type }),
    ...(headers.get('connection')?.toLowerCase() === 'close' && { connection: 'close' }),
    ...Object.fromEntries([...headers].filter(([name]) => names.includes(name))),
  };
}

function json(status: number, body: object, rest: Partial<AnswerRecord> = {}): AnswerRecord {
  return { status, body: JSON.stringify(body), type: 'application/json; charset=utf-8', ...rest };
}

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

const RETRY = { 'retry-after': '30' };

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
  handlerFailed: json(429, { error: 'handler_failed' }, RETRY),
  handlerTimeout: json(429, { error: 'handler_timeout' }, RETRY),
  bodyConsumed: json(429, { error: 'body_consumed' }, RETRY),
  /** Without `retry-after`, which the handler chooses. */
  unavailable: json(429, { error: 'unavailable' }),
};

/** The same response, after which the server closes the connection. */
export function closing(answer: AnswerRecord): AnswerRecord {
  return { ...answer, connection: 'close' };
}

/** On every response of a redirect route, so that the signed address reaches no other site and no cache (threat A23). */
export const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } as const;
const PAGE_HEADERS = { ...PRIVATE, 'content-security-policy': "default-src 'none'" } as const;

/** What a customer sees who cannot be sent on: never JSON (decision D89). */
export function page(status: number, rest: Partial<AnswerRecord> = {}): AnswerRecord {
  return {
    status,
    body:
      '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">' +
      '<title>Payment</title><p>Your payment is being checked.</p></html>',
    type: 'text/html; charset=utf-8',
    ...PAGE_HEADERS,
    ...rest,
  };
}

/** What the sender of an accepted callback sees: the response of the adapter, or of the app's own handler. */
export function acceptance(mode: Mode): AnswerRecord {
  return mode === 'handler' ? ANSWERS.accepted : ANSWERS.passedThrough;
}

/** Each callback reaches the handler, once. */
export function accepted(...handled: readonly unknown[]): (mode: Mode) => Partial<Outcome> {
  return (mode) => ({ answers: handled.map(() => acceptance(mode)), handled });
}

export const ACCEPTED: (mode: Mode) => Partial<Outcome> = accepted('ORD-1001');

/** A genuine callback after this outcome is accepted. */
export function thenAccepted(outcome: Partial<Outcome>): (mode: Mode) => Partial<Outcome> {
  const { answers = [], refusals = [] } = outcome;
  return (mode) => ({ answers: [...answers, acceptance(mode)], refusals, handled: ['ORD-1001'] });
}

/** Expects this response; the code reaches `onRefused` exactly once, and the handler is not called. */
export function refused(code: RefusalCode, answer: AnswerRecord = ANSWERS.unauthorized): Partial<Outcome> {
  return { answers: [answer], refusals: [code] };
}

export const TOO_LARGE: Partial<Outcome> = refused('body_too_large', ANSWERS.contentTooLarge);

/** The redirect verified: 303 to the clean address, or the response of the app's own handler, with the same headers. */
export function redirected(recorded: unknown = 'ORD-1001'): (mode: Mode) => Partial<Outcome> {
  const seeOther = { status: 303, body: '', location: '/thanks' };
  return (mode) => ({
    answers: [{ ...(mode === 'handler' ? seeOther : ANSWERS.passedThrough), ...PRIVATE }],
    handled: [recorded],
  });
}

/** A refused redirect without `refusedLocation`. */
export function turnedAway(code: RefusalCode): Partial<Outcome> {
  return refused(code, page(401));
}
