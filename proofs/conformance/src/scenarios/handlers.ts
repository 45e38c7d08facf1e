import { UnavailableError } from '@payment-service/core';
import { expect } from 'vitest';
import { callbackRequest, payload, UNSIGNED_REQUEST } from '../http-request.ts';
import { ANSWERS, type AnswerRecord, type Outcome, refused, thenAccepted } from '../outcome.ts';
import { type CallbackScenarios, HANDLER, handling } from '../scenario.ts';

const genuine = callbackRequest();
const ambiguous = callbackRequest({ data: payload({ merchant_reference: 'ORD:1001' }) });
const rejects = (): Promise<never> => Promise.reject(new Error('The order store is down.'));
const DOWN = 'Error: The order store is down.';
const HANDLER_TIMEOUT = expect.stringMatching(
  /^TimeoutError: The handler did not settle within handlerTimeoutMs/,
);

function fails(): never {
  throw new Error('The order store is down.');
}

function failed(error: unknown, answer: Partial<AnswerRecord> = {}): Partial<Outcome> {
  return { answers: [{ ...ANSWERS.handlerFailed, ...answer }], errors: [error], handled: ['ORD-1001'] };
}

function rejectsAsFunction(): unknown {
  const rejected = rejects();
  return Object.defineProperty(() => undefined, 'then', { value: rejected.then.bind(rejected) });
}

export const handlers: CallbackScenarios = {
  'a handler that throws is answered with failureStatus, and the error reaches onError only': [
    genuine,
    failed(DOWN),
    handling(fails),
  ],
  'a handler that rejects is answered with failureStatus, and the error reaches onError only': [
    genuine,
    failed(DOWN),
    handling(rejects),
  ],
  'threat A41: a handler whose promise is a function is awaited, and its failure reaches onError only': [
    genuine,
    failed(DOWN),
    handling(rejectsAsFunction),
  ],
  'a handler that rejects without an error is a failed handler': [
    genuine,
    failed(undefined),
    handling(() => Promise.reject()),
  ],
  'an error of the app’s own handler reaches the framework, and not onError': [
    genuine,
    { answers: [expect.objectContaining({ status: 500 })], handled: ['ORD-1001'] },
    { modes: ['pass-through'], handle: rejects },
  ],
  'failureStatus 503 is the status of a failed handler': [
    genuine,
    failed(DOWN, { status: 503 }),
    { ...handling(rejects), options: { failureStatus: 503 } },
  ],
  'a handler that cannot store the callback now is answered with failureStatus and its own Retry-After': [
    genuine,
    failed('UnavailableError: The database is unavailable.', { ...ANSWERS.unavailable, 'retry-after': '7' }),
    handling(() =>
      Promise.reject(new UnavailableError('The database is unavailable.', { retryAfterSeconds: 7 })),
    ),
  ],
  'a handler that does not settle within handlerTimeoutMs is answered with failureStatus': [
    genuine,
    failed(HANDLER_TIMEOUT, ANSWERS.handlerTimeout),
    { ...handling(() => new Promise(() => undefined)), options: { handlerTimeoutMs: 50 } },
  ],
  'a handler that fails after handlerTimeoutMs is answered once, and its error reaches onError': [
    async (stage) => {
      const client = await stage.connect();
      await stage.ask(genuine, client);
      stage.openGate();
      await stage.ask(UNSIGNED_REQUEST, client);
    },
    {
      answers: [ANSWERS.handlerTimeout, ANSWERS.unauthorized],
      refusals: ['signature_missing'],
      errors: [HANDLER_TIMEOUT, DOWN],
      handled: ['ORD-1001'],
    },
    {
      ...HANDLER,
      options: { handlerTimeoutMs: 50 },
      handle: (_callback, stage) => stage.waitAtGate().then(fails),
    },
  ],
  'a refusal whose signature fits, kept as evidence, is answered as accepted and is not passed through': [
    ambiguous,
    refused('ambiguous', ANSWERS.accepted),
    { options: { onAuthenticRefusal: ({ evidence }) => evidence.signed } },
  ],
  'no answer is given before the handler has resolved': [
    async (stage) => {
      const client = await stage.connect();
      await client.write(genuine);
      await stage.handlerCalled();
      // Another complete request is answered meanwhile, which leaves enough time for a premature response to arrive.
      await stage.ask(UNSIGNED_REQUEST);
      if (client.unread !== '') throw new Error('The answer arrived before the handler had resolved.');
      stage.openGate();
      stage.record(await client.answer());
    },
    thenAccepted(refused('signature_missing')),
    { handle: (_callback, stage) => stage.waitAtGate() },
  ],
};
