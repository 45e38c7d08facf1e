import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import {
  callbackRequest,
  chunkedCallbackRequest,
  headed,
  paddedBody,
  TEXT,
  UNSIGNED_REQUEST,
} from '../http-request.ts';
import { ACCEPTED, ANSWERS, type Outcome, refused, TOO_LARGE } from '../outcome.ts';
import type { CallbackScenarios } from '../scenario.ts';

const LIMIT = 64 * 1024;
const genuine = callbackRequest();
const changed = TEXT.replace('ORD-1001', 'ORD-1002');
const zipped = (text: string): Buffer =>
  callbackRequest({ body: gzipSync(text), headers: { 'content-encoding': 'gzip' } });
const chunked = (...chunks: readonly string[]): Buffer[] => chunkedCallbackRequest(chunks);

/** The error for a body that was read and not kept. */
function consumed(status = 429): Partial<Outcome> {
  const whatToMountWhere = expect.stringMatching(
    /^ConfigurationError: .*Mount paymentCallbacks\(\) once, before other middleware, or use a JSON body parser\.$/,
  );
  return { answers: [{ ...ANSWERS.bodyConsumed, status }], errors: [whatToMountWhere] };
}

function behindParser(before: 'json' | 'text' | 'bytes'): CallbackScenarios {
  const it = `behind a parser that keeps ${before}`;
  return {
    [`a callback ${it} verifies`]: [genuine, ACCEPTED, { before }],
    [`a changed signed field ${it} is refused`]: [
      callbackRequest({ body: changed }),
      refused('mismatch'),
      { before },
    ],
    [`threat A34: a chunked body over 64 KiB ${it} is refused`]: [
      chunked(paddedBody(LIMIT + 1)),
      TOO_LARGE,
      { before },
    ],
    [`threat A34: a chunked body of 30,000 characters and more than 64 KiB ${it} is refused`]: [
      chunked(paddedBody(LIMIT + 1, '\u20ac')),
      TOO_LARGE,
      { before },
    ],
    [`threat A34: a body of 2 MB in gzip ${it} is refused`]: [
      zipped(paddedBody(2_000_000)),
      TOO_LARGE,
      { before },
    ],
  };
}

export const readers: CallbackScenarios = {
  ...behindParser('json'),
  ...behindParser('text'),
  ...behindParser('bytes'),
  'a body that the JSON parser before does not read, because of its content type, verifies': [
    headed({ 'content-type': 'application/vnd.payment+json' }),
    ACCEPTED,
    { before: 'json' },
  ],
  'a body that middleware has decompressed into another stream verifies': [
    zipped(TEXT),
    ACCEPTED,
    { before: 'stream' },
  ],
  'a JSON parser mounted after does no harm': [genuine, ACCEPTED, { after: 'json' }],
  'a body that was read and not kept is an error that says what to mount where': [
    genuine,
    consumed(),
    { before: 'nothing kept' },
  ],
  'threat A22: a sender without a signature does not learn that the body was not kept': [
    UNSIGNED_REQUEST,
    refused('signature_missing'),
    { before: 'nothing kept' },
  ],
};
