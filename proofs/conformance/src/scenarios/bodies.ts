import { gzipSync } from 'node:zlib';
import type { VerifiedCallback } from '@payment-service/core';
import { accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest, paddedBody, payload, TEXT } from '../http-request.ts';
import { ANSWERS, closing } from '../outcome.ts';
import { type CallbackScenario, expecting } from '../scenario.ts';

const named = payload({ customer_name: 'Zoë Łukasz 🙂' });
const namedBytes = Buffer.from(JSON.stringify(named));
const insideZoe = namedBytes.indexOf('ë') + 1;
const insideFace = namedBytes.indexOf('🙂') + 2;
const aboveLimit = paddedBody(64 * 1024 + 1);
const zipped = gzipSync(TEXT);

const encoded = (encoding: string | readonly string[], body: Uint8Array): Buffer =>
  callbackRequest({ body, headers: { 'content-encoding': encoding } });

export const bodies: readonly CallbackScenario[] = [
  ...expecting(accepted(), {
    'an unread body of a declared length verifies': callbackRequest(),
    'a body that a bridge has decompressed, whose content-encoding is still gzip, verifies': encoded(
      'gzip',
      Buffer.from(TEXT),
    ),
    'a body in gzip, sent in chunks, verifies': chunkedCallbackRequest(
      [zipped.subarray(0, 7), zipped.subarray(7)],
      { headers: { 'content-encoding': 'gzip' } },
    ),
  }),
  {
    name: 'a chunked body, split inside multi-byte characters, arrives whole',
    play: chunkedCallbackRequest(
      [
        namedBytes.subarray(0, insideZoe),
        namedBytes.subarray(insideZoe, insideFace),
        namedBytes.subarray(insideFace),
      ],
      { data: named },
    ),
    record: (callback: VerifiedCallback) => callback.unsigned.customer_name,
    expect: accepted('Zoë Łukasz 🙂'),
  },
  ...expecting(refused('body_too_large', ANSWERS.contentTooLarge), {
    'threat A18: a chunked body of 65,537 bytes is refused': chunkedCallbackRequest([
      aboveLimit.slice(0, 30_000),
      aboveLimit.slice(30_000),
    ]),
  }),
  ...expecting(refused('body_malformed'), {
    'gzip of two members is refused on every Node': encoded(
      'gzip',
      Buffer.concat([gzipSync(TEXT.slice(0, 40)), gzipSync(TEXT.slice(40))]),
    ),
  }),
  ...expecting(refused('encoding_unsupported', ANSWERS.unsupportedMediaType), {
    'the encoding zstd is refused': encoded('zstd', zipped),
    'a repeated content-encoding header is refused': encoded(['gzip', 'gzip'], zipped),
  }),
  ...expecting(refused('encoding_unsupported', closing(ANSWERS.unsupportedMediaType)), {
    'a chunked body in an unknown encoding is refused, and the connection is closed': chunkedCallbackRequest(
      [zipped],
      { headers: { 'content-encoding': 'zstd' } },
    ),
  }),
];
