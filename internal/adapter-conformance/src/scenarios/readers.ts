import { gzipSync } from 'node:zlib';
import { sampleCallback } from '@payment-service/core/testing';
import { expect } from 'vitest';
import { acceptance, accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest, paddedBody } from '../http-request.ts';
import { ANSWERS } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

const LIMIT = 64 * 1024;
const text = JSON.stringify(sampleCallback());
const WHAT_TO_MOUNT_WHERE = expect.stringMatching(
  /^ConfigurationError: .*Mount paymentCallbacks\(\) before it, or use a JSON body parser\.$/,
);
const tooLarge = refused('body_too_large', ANSWERS.contentTooLarge);

export const readers: readonly CallbackScenario[] = [
  ...(['json', 'text', 'bytes'] as const).flatMap((before): CallbackScenario[] => [
    {
      name: `a callback behind a parser that keeps ${before} verifies`,
      before,
      play: callbackRequest(),
      expect: accepted(),
    },
    {
      name: `a chunked callback behind a parser that keeps ${before} verifies`,
      before,
      play: chunkedCallbackRequest([text.slice(0, 40), text.slice(40)]),
      expect: accepted(),
    },
    {
      name: `a changed signed field behind a parser that keeps ${before} is refused`,
      before,
      play: callbackRequest({ body: text.replace('ORD-1001', 'ORD-1002') }),
      expect: refused('mismatch'),
    },
    {
      name: `threat A2: a forged amount behind a parser that keeps ${before} is among the unsigned fields`,
      before,
      play: callbackRequest({
        body: text.replace('"transaction_amount":500', '"transaction_amount":5000000'),
      }),
      record: (callback) => callback.unsigned.transaction_amount,
      expect: accepted(5_000_000),
    },
    {
      name: `two callbacks on one connection behind a parser that keeps ${before} verify`,
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
    {
      name: `a body of 65,536 bytes behind a parser that keeps ${before} verifies`,
      before,
      play: chunkedCallbackRequest([paddedBody(LIMIT)]),
      expect: accepted(),
    },
    {
      name: `threat A34: a declared body over 64 KiB behind a parser that keeps ${before} is refused`,
      before,
      play: callbackRequest({ body: paddedBody(LIMIT + 1) }),
      expect: tooLarge,
    },
    ...Object.entries({
      'a chunked body over 64 KiB': paddedBody(LIMIT + 1),
      'a chunked body of 2 MB': paddedBody(2_000_000),
      'a chunked body of 30,000 characters and more than 64 KiB': paddedBody(LIMIT + 1, '\u20ac'),
    }).map(([name, body]) => ({
      name: `threat A34: ${name} behind a parser that keeps ${before} is refused`,
      before,
      play: chunkedCallbackRequest([body]),
      expect: tooLarge,
    })),
    {
      name: `threat A34: a body of 2 MB in gzip behind a parser that keeps ${before} is refused`,
      before,
      play: callbackRequest({
        body: gzipSync(paddedBody(2_000_000)),
        headers: { 'content-encoding': 'gzip' },
      }),
      expect: tooLarge,
    },
  ]),
  {
    name: 'a body that the JSON parser before does not read, because of its content type, verifies',
    before: 'json',
    play: callbackRequest({ headers: { 'content-type': 'application/vnd.payment+json' } }),
    expect: accepted(),
  },
  {
    name: 'a body that the JSON parser before does not read, because it has no content type, verifies',
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
    name: 'a JSON parser mounted after does not see a refused request',
    after: 'json',
    play: callbackRequest({ body: 'not JSON' }),
    expect: refused('body_malformed'),
  },
  {
    name: 'a body that was read and not kept is an error that says what to mount where',
    before: 'nothing kept',
    play: callbackRequest(),
    expect: { answers: [ANSWERS.bodyConsumed], errors: [WHAT_TO_MOUNT_WHERE] },
  },
  {
    name: 'a chunked body that was read and not kept is the same error',
    before: 'nothing kept',
    play: chunkedCallbackRequest([text.slice(0, 40), text.slice(40)]),
    expect: { answers: [ANSWERS.bodyConsumed], errors: [WHAT_TO_MOUNT_WHERE] },
  },
  {
    name: 'the answer to a body that was read and not kept has the status failureStatus',
    before: 'nothing kept',
    options: { failureStatus: 503 },
    play: callbackRequest(),
    expect: { answers: [{ ...ANSWERS.bodyConsumed, status: 503 }], errors: [WHAT_TO_MOUNT_WHERE] },
  },
  {
    name: 'threat A22: a sender without a signature does not learn that the body was not kept',
    before: 'nothing kept',
    play: callbackRequest({ headers: { 'hmac-signature': undefined } }),
    expect: refused('signature_missing'),
  },
];
