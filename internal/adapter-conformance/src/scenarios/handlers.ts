import { UnavailableError } from '@payment-service/core';
import { expect } from 'vitest';
import { accepted, refused, thenAccepted } from '../expectations.ts';
import { callbackRequest, headed, payload, UNSIGNED_REQUEST } from '../http-request.ts';
import { ANSWERS, type Outcome } from '../outcome.ts';
import { type CallbackScenario, HANDLER } from '../scenario.ts';

const genuine = callbackRequest();
const ambiguous = callbackRequest({ data: payload({ merchant_reference: 'ORD:1001' }) });
const never = (): Promise<never> => new Promise(() => undefined);
const rejects = (): Promise<never> => Promise.reject(new Error('The order store is down.'));
const DOWN = 'Error: The order store is down.';

function fails(): never {
  throw new Error('The order store is down.');
}

function isUnavailable(): never {
  throw new UnavailableError('The database is unavailable.', { retryAfterSeconds: 7 });
}

function failed(error: unknown, status = 429): Partial<Outcome> {
  return { answers: [{ ...ANSWERS.handlerFailed, status }], errors: [error], handled: ['ORD-1001'] };
}

function unavailable(status: number): Partial<Outcome> {
  return {
    answers: [{ ...ANSWERS.unavailable, status, 'retry-after': '7' }],
    errors: ['UnavailableError: The database is unavailable.'],
    handled: ['ORD-1001'],
  };
}

const HANDLER_TIMEOUT = expect.stringMatching(
  /^TimeoutError: The handler did not settle within handlerTimeoutMs/,
);

// SHA-256 over the lengths and values of '' and the five signed fields of the sample, made with sha256sum.
const TRANSITION = '97f95b316e2c080cd2b6b9d40f2ea22caf4c897e2ca83978b06e4b2d74268ca2';

/** Handlers of a genuine callback in handler mode, by the name of their scenario. */
function handling(
  expect: CallbackScenario['expect'],
  handlers: Readonly<Record<string, () => unknown>>,
  options: NonNullable<CallbackScenario['options']> = {},
): readonly CallbackScenario[] {
  return Object.entries(handlers).map(([name, handle]) => ({
    name,
    modes: HANDLER,
    options,
    handle,
    play: genuine,
    expect,
  }));
}

export const handlers: readonly CallbackScenario[] = [
  ...handling(failed(DOWN), {
    'a handler that throws is answered with failureStatus, and the error reaches onError only': fails,
    'a handler that rejects is answered with failureStatus, and the error reaches onError only': rejects,
    'threat A41: a handler whose promise is a function is awaited, and its failure reaches onError only':
      () => {
        const rejected = rejects();
        return Object.defineProperty(() => undefined, 'then', { value: rejected.then.bind(rejected) });
      },
  }),
  ...handling(failed(undefined), {
    'a handler that rejects without an error is a failed handler': () => Promise.reject(),
  }),
  ...[400, 500, 503, 599].flatMap((failureStatus) =>
    handling(
      failed(DOWN, failureStatus),
      { [`failureStatus ${failureStatus} is the status of a failed handler`]: rejects },
      { failureStatus },
    ),
  ),
  ...handling(unavailable(429), {
    'a handler that cannot store the callback now is answered with failureStatus and its own Retry-After':
      isUnavailable,
  }),
  ...handling(
    unavailable(503),
    { 'failureStatus is the status of an unavailable store, too': isUnavailable },
    { failureStatus: 503 },
  ),
  ...[429, 503].flatMap((failureStatus) =>
    handling(
      {
        answers: [{ ...ANSWERS.handlerTimeout, status: failureStatus }],
        errors: [HANDLER_TIMEOUT],
        handled: ['ORD-1001'],
      },
      {
        [`a handler that does not settle within handlerTimeoutMs is answered with failureStatus ${failureStatus}`]:
          never,
      },
      { handlerTimeoutMs: 50, failureStatus },
    ),
  ),
  ...handling(accepted(), {
    'the return value of a handler changes no answer': () => ({ status: 418, body: 'teapot' }),
  }),
  {
    name: 'a handler that fails after handlerTimeoutMs is answered once, and its error reaches onError',
    modes: HANDLER,
    options: { handlerTimeoutMs: 50 },
    handle: (_callback, stage) => stage.waitAtGate().then(fails),
    play: async (stage) => {
      const client = await stage.connect();
      await stage.ask(genuine, client);
      stage.openGate();
      await stage.ask(UNSIGNED_REQUEST, client);
    },
    expect: {
      answers: [ANSWERS.handlerTimeout, ANSWERS.unauthorized],
      refusals: ['signature_missing'],
      errors: [HANDLER_TIMEOUT, DOWN],
      handled: ['ORD-1001'],
    },
  },
  {
    name: 'evidence that is not stored within handlerTimeoutMs is answered with failureStatus',
    options: { handlerTimeoutMs: 50, onAuthenticRefusal: never },
    play: ambiguous,
    expect: { ...refused('ambiguous', ANSWERS.handlerTimeout), errors: [HANDLER_TIMEOUT] },
  },
  {
    name: 'a refusal whose signature fits, kept as evidence, is answered as accepted and is not passed through',
    options: { onAuthenticRefusal: ({ evidence }) => evidence.signed },
    play: ambiguous,
    expect: refused('ambiguous', ANSWERS.accepted),
  },
  {
    name: 'a refusal whose signature fits, whose evidence cannot be kept, is a failed handler',
    options: { onAuthenticRefusal: rejects },
    play: ambiguous,
    expect: { ...refused('ambiguous', ANSWERS.handlerFailed), errors: [DOWN] },
  },
  {
    name: 'no answer is given before the handler has resolved',
    handle: (_callback, stage) => stage.waitAtGate(),
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(genuine);
      await stage.handlerCalled();
      // Another complete request is answered meanwhile, which leaves enough time for a premature answer to arrive.
      await stage.ask(UNSIGNED_REQUEST);
      if (client.unread !== '') throw new Error('The answer arrived before the handler had resolved.');
      stage.openGate();
      stage.record(await client.answer());
    },
    expect: thenAccepted(refused('signature_missing')),
  },
  {
    name: 'an error in onRefused changes no answer, and reaches onError',
    options: { onRefused: fails },
    play: UNSIGNED_REQUEST,
    expect: { answers: [ANSWERS.unauthorized], errors: [DOWN] },
  },
  {
    name: 'the handler of a refused callback is not called',
    handle: fails,
    play: headed({ 'hmac-signature': `t=1,s=${'0'.repeat(64)}` }),
    expect: refused('mismatch'),
  },
  {
    name: 'a repeated callback reaches the handler again, with the same transitionId',
    record: (callback) => callback.transitionId,
    play: async (stage) => {
      await stage.ask(genuine);
      await stage.ask(genuine);
    },
    expect: accepted(TRANSITION, TRANSITION),
  },
];
