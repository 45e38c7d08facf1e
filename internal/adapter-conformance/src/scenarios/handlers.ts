import { UnavailableError } from '@payment-service/core';
import { sampleCallback } from '@payment-service/core/testing';
import { expect } from 'vitest';
import type { Mode } from '../application.ts';
import { acceptance, accepted, refused } from '../expectations.ts';
import { callbackRequest } from '../http-request.ts';
import { ANSWERS, type Outcome } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

const ORDER_STORE_DOWN = new Error('The order store is down.');
const ambiguous = callbackRequest({ data: sampleCallback({ payload: { merchant_reference: 'ORD:1001' } }) });
const HANDLER: readonly Mode[] = ['handler'];

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

export const handlers: readonly CallbackScenario[] = [
  {
    name: 'a handler that throws is answered with failureStatus, and the error reaches onError only',
    modes: HANDLER,
    handle: () => {
      throw ORDER_STORE_DOWN;
    },
    play: callbackRequest(),
    expect: failed('Error: The order store is down.'),
  },
  {
    name: 'a handler that rejects is answered with failureStatus, and the error reaches onError only',
    modes: HANDLER,
    handle: () => Promise.reject(ORDER_STORE_DOWN),
    play: callbackRequest(),
    expect: failed('Error: The order store is down.'),
  },
  {
    name: 'threat A41: a handler whose promise is a function is awaited, and its failure reaches onError only',
    modes: HANDLER,
    handle: () => {
      const rejected = Promise.reject(ORDER_STORE_DOWN);
      return Object.defineProperty(() => undefined, 'then', { value: rejected.then.bind(rejected) });
    },
    play: callbackRequest(),
    expect: failed('Error: The order store is down.'),
  },
  {
    name: 'a handler that rejects without an error is a failed handler',
    modes: HANDLER,
    handle: () => Promise.reject(),
    play: callbackRequest(),
    expect: failed(undefined),
  },
  ...[400, 500, 503, 599].map((failureStatus) => ({
    name: `failureStatus ${failureStatus} is the status of a failed handler`,
    modes: HANDLER,
    options: { failureStatus },
    handle: () => Promise.reject(ORDER_STORE_DOWN),
    play: callbackRequest(),
    expect: failed('Error: The order store is down.', failureStatus),
  })),
  {
    name: 'a handler that cannot store the callback now is answered with failureStatus and its own Retry-After',
    modes: HANDLER,
    handle: () => {
      throw new UnavailableError('The database is unavailable.', { retryAfterSeconds: 7 });
    },
    play: callbackRequest(),
    expect: unavailable(429),
  },
  {
    name: 'failureStatus is the status of an unavailable store, too',
    modes: HANDLER,
    options: { failureStatus: 503 },
    handle: () => {
      throw new UnavailableError('The database is unavailable.', { retryAfterSeconds: 7 });
    },
    play: callbackRequest(),
    expect: unavailable(503),
  },
  ...[429, 503].map((failureStatus) => ({
    name: `a handler that does not settle within handlerTimeoutMs is answered with failureStatus ${failureStatus}`,
    modes: HANDLER,
    options: { handlerTimeoutMs: 50, failureStatus },
    handle: () => new Promise(() => undefined),
    play: callbackRequest(),
    expect: {
      answers: [{ ...ANSWERS.handlerTimeout, status: failureStatus }],
      errors: [HANDLER_TIMEOUT],
      handled: ['ORD-1001'],
    },
  })),
  {
    name: 'a handler that fails after handlerTimeoutMs is answered once, and its error reaches onError',
    modes: HANDLER,
    options: { handlerTimeoutMs: 50 },
    handle: async (_callback, stage) => {
      await stage.waitAtGate();
      throw ORDER_STORE_DOWN;
    },
    play: async (stage) => {
      const client = await stage.connect();
      await stage.ask(callbackRequest(), client);
      stage.openGate();
      await stage.ask(callbackRequest({ headers: { 'hmac-signature': undefined } }), client);
    },
    expect: {
      answers: [ANSWERS.handlerTimeout, ANSWERS.unauthorized],
      refusals: ['signature_missing'],
      errors: [HANDLER_TIMEOUT, 'Error: The order store is down.'],
      handled: ['ORD-1001'],
    },
  },
  {
    name: 'evidence that is not stored within handlerTimeoutMs is answered with failureStatus',
    options: { handlerTimeoutMs: 50, onAuthenticRefusal: () => new Promise(() => undefined) },
    play: ambiguous,
    expect: { answers: [ANSWERS.handlerTimeout], refusals: ['ambiguous'], errors: [HANDLER_TIMEOUT] },
  },
  {
    name: 'a refusal whose signature fits, kept as evidence, is answered as accepted and is not passed through',
    options: { onAuthenticRefusal: ({ evidence }) => evidence.signed },
    play: ambiguous,
    expect: { answers: [ANSWERS.accepted], refusals: ['ambiguous'] },
  },
  {
    name: 'a refusal whose signature fits, whose evidence cannot be kept, is a failed handler',
    options: { onAuthenticRefusal: () => Promise.reject(ORDER_STORE_DOWN) },
    play: ambiguous,
    expect: {
      answers: [ANSWERS.handlerFailed],
      refusals: ['ambiguous'],
      errors: ['Error: The order store is down.'],
    },
  },
  {
    name: 'the return value of a handler changes no answer',
    modes: HANDLER,
    handle: () => ({ status: 418, body: 'teapot' }),
    play: callbackRequest(),
    expect: accepted(),
  },
  {
    name: 'no answer is given before the handler has resolved',
    handle: (_callback, stage) => stage.waitAtGate(),
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackRequest());
      await stage.handlerCalled();
      // Another complete request is answered meanwhile, which leaves enough time for a premature answer to arrive.
      await stage.ask(callbackRequest({ headers: { 'hmac-signature': undefined } }));
      if (client.unread !== '') throw new Error('The answer arrived before the handler had resolved.');
      stage.openGate();
      stage.record(await client.answer());
    },
    expect: (mode) => ({
      answers: [ANSWERS.unauthorized, acceptance(mode)],
      refusals: ['signature_missing'],
      handled: ['ORD-1001'],
    }),
  },
  {
    name: 'an error in onRefused changes no answer, and reaches onError',
    options: {
      onRefused: () => {
        throw new Error('The log is full.');
      },
    },
    play: callbackRequest({ headers: { 'hmac-signature': undefined } }),
    expect: { answers: [ANSWERS.unauthorized], errors: ['Error: The log is full.'] },
  },
  {
    name: 'the handler of a refused callback is not called',
    handle: () => {
      throw ORDER_STORE_DOWN;
    },
    play: callbackRequest({ headers: { 'hmac-signature': `t=1,s=${'0'.repeat(64)}` } }),
    expect: refused('mismatch'),
  },
  {
    name: 'a repeated callback reaches the handler again, with the same transitionId',
    record: (callback) => callback.transitionId,
    play: async (stage) => {
      await stage.ask(callbackRequest());
      await stage.ask(callbackRequest());
    },
    expect: (mode) => ({
      answers: [acceptance(mode), acceptance(mode)],
      handled: [TRANSITION, TRANSITION],
    }),
  },
];

// SHA-256 over the lengths and values of '' and the five signed fields of the sample, made with sha256sum.
const TRANSITION = '97f95b316e2c080cd2b6b9d40f2ea22caf4c897e2ca83978b06e4b2d74268ca2';
