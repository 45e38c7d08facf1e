import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { accepted, refused } from '../expectations.ts';
import {
  callbackRequest,
  chunkedCallbackRequest,
  headed,
  paddedBody,
  TEXT,
  UNSIGNED_REQUEST,
} from '../http-request.ts';
import { ANSWERS, type Outcome } from '../outcome.ts';
import { type CallbackScenario, expecting } from '../scenario.ts';

const LIMIT = 64 * 1024;
const genuine = callbackRequest();
const zippedRequest = (text: string): Buffer =>
  callbackRequest({ body: gzipSync(text), headers: { 'content-encoding': 'gzip' } });
const chunked = chunkedCallbackRequest([TEXT.slice(0, 40), TEXT.slice(40)]);

/** The error for a body that was read and not kept. */
function consumed(status = 429): Partial<Outcome> {
  const whatToMountWhere = expect.stringMatching(
    /^ConfigurationError: .*Mount paymentCallbacks\(\) before it, or use a JSON body parser\.$/,
  );
  return { answers: [{ ...ANSWERS.bodyConsumed, status }], errors: [whatToMountWhere] };
}

export const readers: readonly CallbackScenario[] = [
  ...(['json', 'text', 'bytes'] as const).flatMap((before): CallbackScenario[] => [
    ...expecting(
      accepted(),
      {
        [`a callback behind a parser that keeps ${before} verifies`]: genuine,
        [`a chunked callback behind a parser that keeps ${before} verifies`]: chunked,
      },
      { before },
    ),
    {
      name: `a changed signed field behind a parser that keeps ${before} is refused`,
      before,
      play: callbackRequest({ body: TEXT.replace('ORD-1001', 'ORD-1002') }),
      expect: refused('mismatch'),
    },
    ...Object.entries({
      'a chunked body over 64 KiB': chunkedCallbackRequest([paddedBody(LIMIT + 1)]),
      'a chunked body of 30,000 characters and more than 64 KiB': chunkedCallbackRequest([
        paddedBody(LIMIT + 1, '\u20ac'),
      ]),
      'a body of 2 MB in gzip': zippedRequest(paddedBody(2_000_000)),
    }).map(([name, play]) => ({
      name: `threat A34: ${name} behind a parser that keeps ${before} is refused`,
      before,
      play,
      expect: refused('body_too_large', ANSWERS.contentTooLarge),
    })),
  ]),
  ...expecting(
    accepted(),
    {
      'a body that the JSON parser before does not read, because of its content type, verifies': headed({
        'content-type': 'application/vnd.payment+json',
      }),
      'a body that the JSON parser before does not read, because it has no content type, verifies': headed({
        'content-type': undefined,
      }),
    },
    { before: 'json' },
  ),
  ...expecting(
    accepted(),
    {
      'a body that middleware has decompressed into another stream verifies': zippedRequest(TEXT),
      'a body of several pieces that middleware has decompressed into another stream verifies': zippedRequest(
        paddedBody(LIMIT),
      ),
    },
    { before: 'stream' },
  ),
  ...expecting(
    refused('body_too_large', ANSWERS.contentTooLarge),
    {
      'threat A34: a body over 64 KiB that middleware has decompressed into another stream is refused':
        zippedRequest(paddedBody(2_000_000)),
    },
    { before: 'stream' },
  ),
  {
    name: 'a changed signed field in a stream that middleware has decompressed is refused',
    before: 'stream',
    play: zippedRequest(TEXT.replace('ORD-1001', 'ORD-1002')),
    expect: refused('mismatch'),
  },
  {
    name: 'a JSON parser mounted after does no harm',
    after: 'json',
    play: genuine,
    expect: accepted(),
  },
  {
    name: 'a body that was read and not kept is an error that says what to mount where',
    before: 'nothing kept',
    play: genuine,
    expect: consumed(),
  },
  {
    name: 'the answer to a body that was read and not kept has the status failureStatus',
    before: 'nothing kept',
    options: { failureStatus: 503 },
    play: genuine,
    expect: consumed(503),
  },
  {
    name: 'threat A22: a sender without a signature does not learn that the body was not kept',
    before: 'nothing kept',
    play: UNSIGNED_REQUEST,
    expect: refused('signature_missing'),
  },
];
