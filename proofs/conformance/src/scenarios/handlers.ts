import { expect } from 'vitest';
import { callbackRequest, UNSIGNED_REQUEST } from '../http-request.ts';
import { ANSWERS, type AnswerRecord, type Outcome, refused, thenAccepted } from '../outcome.ts';
import { type CallbackScenarios, handling } from '../scenario.ts';

const genuine = callbackRequest();
const rejects = (): Promise<never> => Promise.reject(new Error('The order store is down.'));
const DOWN = 'Error: The order store is down.';
const HANDLER_TIMEOUT = expect.stringMatching(
  /^TimeoutError: The handler did not settle within handlerTimeoutMs/,
);

function failed(error: unknown, answer: Partial<AnswerRecord> = {}): Partial<Outcome> {
  return { answers: [{ ...ANSWERS.handlerFailed, ...answer }], errors: [error], handled: ['ORD-1001'] };
}

function rejectsAsFunction(): unknown {
  const rejected = rejects();
  return Object.defineProperty(() => undefined, 'then', { value: rejected.then.bind(rejected) });
}

export const handlers: CallbackScenarios = {
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
  'a handler that does not settle within handlerTimeoutMs is answered with failureStatus': [
    genuine,
    failed(HANDLER_TIMEOUT, ANSWERS.handlerTimeout),
    { ...handling(() => new Promise(() => undefined)), options: { handlerTimeoutMs: 50 } },
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
