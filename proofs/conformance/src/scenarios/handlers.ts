import { UnavailableError } from '@payment-service/core';
import { expect } from 'vitest';
import { refused, thenAccepted } from '../expectations.ts';
import { callbackRequest, payload, UNSIGNED_REQUEST } from '../http-request.ts';
import { ANSWERS, type Outcome } from '../outcome.ts';
import { type CallbackScenario, HANDLER, handlersOf } from '../scenario.ts';

const genuine = callbackRequest();
const ambiguous = callbackRequest({ data: payload({ merchant_reference: 'ORD:1001' }) });
const never = (): Promise<never> => new Promise(() => undefined);
const rejects = (): Promise<never> => Promise.reject(new Error('The order store is down.'));
const DOWN = 'Error: The order store is down.';

function fails(): never {
  throw new Error('The order store is down.');
}

function failed(error: unknown, status = 429): Partial<Outcome> {
  return { answers: [{ ...ANSWERS.handlerFailed, status }], errors: [error], handled: ['ORD-1001'] };
}

const HANDLER_TIMEOUT = expect.stringMatching(
  /^TimeoutError: The handler did not settle within handlerTimeoutMs/,
);

const handling = handlersOf<CallbackScenario>(genuine);

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
  ...handling(
    failed(DOWN, 503),
    { 'failureStatus 503 is the status of a failed handler': rejects },
    { failureStatus: 503 },
  ),
  ...handling(
    {
      answers: [{ ...ANSWERS.unavailable, 'retry-after': '7' }],
      errors: ['UnavailableError: The database is unavailable.'],
      handled: ['ORD-1001'],
    },
    {
      'a handler that cannot store the callback now is answered with failureStatus and its own Retry-After':
        () => Promise.reject(new UnavailableError('The database is unavailable.', { retryAfterSeconds: 7 })),
    },
  ),
  ...handling(
    { answers: [ANSWERS.handlerTimeout], errors: [HANDLER_TIMEOUT], handled: ['ORD-1001'] },
    { 'a handler that does not settle within handlerTimeoutMs is answered with failureStatus': never },
    { handlerTimeoutMs: 50 },
  ),
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
    name: 'a refusal whose signature fits, kept as evidence, is answered as accepted and is not passed through',
    options: { onAuthenticRefusal: ({ evidence }) => evidence.signed },
    play: ambiguous,
    expect: refused('ambiguous', ANSWERS.accepted),
  },
  {
    name: 'no answer is given before the handler has resolved',
    handle: (_callback, stage) => stage.waitAtGate(),
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(genuine);
      await stage.handlerCalled();
      // Another complete request is answered meanwhile, which leaves enough time for a premature response to arrive.
      await stage.ask(UNSIGNED_REQUEST);
      if (client.unread !== '') throw new Error('The answer arrived before the handler had resolved.');
      stage.openGate();
      stage.record(await client.answer());
    },
    expect: thenAccepted(refused('signature_missing')),
  },
];
