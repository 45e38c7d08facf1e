import { sampleCallback } from '@payment-service/core/testing';
import { expect } from 'vitest';
import { acceptance, accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest } from '../http-request.ts';
import { ANSWERS } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

const text = JSON.stringify(sampleCallback());
const WHAT_TO_MOUNT_WHERE = expect.stringMatching(
  /^ConfigurationError: .*Mount paymentCallbacks\(\) before whatever reads the body/,
);

export const readers: readonly CallbackScenario[] = [
  ...(['json', 'text', 'bytes'] as const).flatMap((before): CallbackScenario[] => [
    {
      name: `a parser mounted before that keeps ${before}: verifies`,
      before,
      play: callbackRequest(),
      expect: accepted(),
    },
    {
      name: `a parser mounted before that keeps ${before}: chunked, verifies`,
      before,
      play: chunkedCallbackRequest([text.slice(0, 40), text.slice(40)]),
      expect: accepted(),
    },
    {
      name: `a parser mounted before that keeps ${before}: a changed signed field is refused`,
      before,
      play: callbackRequest({ body: text.replace('ORD-1001', 'ORD-1002') }),
      expect: refused('mismatch'),
    },
    {
      name: `threat A2: a parser mounted before that keeps ${before}: a forged amount is among the unsigned fields`,
      before,
      play: callbackRequest({
        body: text.replace('"transaction_amount":500', '"transaction_amount":5000000'),
      }),
      record: (callback) => callback.unsigned.transaction_amount,
      expect: accepted(5_000_000),
    },
    {
      name: `a parser mounted before that keeps ${before}: two callbacks on one connection`,
      before,
      play: async (stage) => {
        const client = await stage.connect();
        await stage.ask(callbackRequest(), client);
        await stage.ask(callbackRequest(), client);
      },
      expect: (mode) => ({
        answers: [acceptance(mode), acceptance(mode)],
        handled: ['ORD-1001', 'ORD-1001'],
      }),
    },
  ]),
  {
    name: 'a JSON parser mounted before that does not know the content type: the unread body verifies',
    before: 'json',
    play: callbackRequest({ headers: { 'content-type': 'application/vnd.payment+json' } }),
    expect: accepted(),
  },
  {
    name: 'a JSON parser mounted before, and no content type: the unread body verifies',
    before: 'json',
    play: callbackRequest({ headers: { 'content-type': undefined } }),
    expect: accepted(),
  },
  {
    name: 'a JSON parser mounted after does no harm',
    after: 'json',
    play: callbackRequest(),
    expect: accepted(),
  },
  {
    name: 'a JSON parser mounted before and another after do no harm',
    before: 'json',
    after: 'json',
    play: callbackRequest(),
    expect: accepted(),
  },
  {
    name: 'a JSON parser mounted after does not see what is refused',
    after: 'json',
    play: callbackRequest({ body: 'not JSON' }),
    expect: refused('body_malformed'),
  },
  {
    name: 'a body read to its end and not kept is an error at once, which says what to mount where',
    before: 'nothing kept',
    play: callbackRequest(),
    expect: { answers: [ANSWERS.bodyConsumed], errors: [WHAT_TO_MOUNT_WHERE] },
  },
  {
    name: 'a chunked body read to its end and not kept is the same error',
    before: 'nothing kept',
    play: chunkedCallbackRequest([text.slice(0, 40), text.slice(40)]),
    expect: { answers: [ANSWERS.bodyConsumed], errors: [WHAT_TO_MOUNT_WHERE] },
  },
  {
    name: 'that error has the status that failureStatus names',
    before: 'nothing kept',
    options: { failureStatus: 503 },
    play: callbackRequest(),
    expect: { answers: [{ ...ANSWERS.bodyConsumed, status: 503 }], errors: [WHAT_TO_MOUNT_WHERE] },
  },
  {
    name: 'threat A22: without a signature, nobody learns that the body was not kept',
    before: 'nothing kept',
    play: callbackRequest({ headers: { 'hmac-signature': undefined } }),
    expect: refused('signature_missing'),
  },
];
