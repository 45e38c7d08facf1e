import { gzipSync } from 'node:zlib';
import { callbackRequest, chunkedCallbackRequest, paddedBody, payload, TEXT } from '../http-request.ts';
import { ACCEPTED, ANSWERS, accepted, refused, TOO_LARGE } from '../outcome.ts';
import type { CallbackScenarios } from '../scenario.ts';

const named = payload({ customer_name: 'Zoë Łukasz 🙂' });
const namedBytes = Buffer.from(JSON.stringify(named));
const insideZoe = namedBytes.indexOf('ë') + 1;
const insideFace = namedBytes.indexOf('🙂') + 2;
const inPieces = [
  namedBytes.subarray(0, insideZoe),
  namedBytes.subarray(insideZoe, insideFace),
  namedBytes.subarray(insideFace),
];
const aboveLimit = paddedBody(64 * 1024 + 1);
const zipped = gzipSync(TEXT);
const twoMembers = Buffer.concat([gzipSync(TEXT.slice(0, 40)), gzipSync(TEXT.slice(40))]);
const unsupported = refused('encoding_unsupported', ANSWERS.unsupportedMediaType);

const encoded = (encoding: string | readonly string[], body: Uint8Array): Buffer =>
  callbackRequest({ body, headers: { 'content-encoding': encoding } });
const chunked = (encoding: string): Buffer[] =>
  chunkedCallbackRequest([zipped.subarray(0, 7), zipped.subarray(7)], {
    headers: { 'content-encoding': encoding },
  });

export const bodies: CallbackScenarios = {
  'a body that a bridge has decompressed, whose content-encoding is still gzip, verifies': [
    encoded('gzip', Buffer.from(TEXT)),
    ACCEPTED,
  ],
  'a body in gzip, sent in chunks, verifies': [chunked('gzip'), ACCEPTED],
  'a chunked body, split inside multi-byte characters, arrives whole': [
    chunkedCallbackRequest(inPieces, { data: named }),
    accepted('Zoë Łukasz 🙂'),
    { record: ({ unsigned }) => unsigned.customer_name },
  ],
  'threat A18: a chunked body of 65,537 bytes is refused': [
    chunkedCallbackRequest([aboveLimit.slice(0, 30_000), aboveLimit.slice(30_000)]),
    TOO_LARGE,
  ],
  'gzip of two members is refused on every Node': [encoded('gzip', twoMembers), refused('body_malformed')],
  'the encoding zstd is refused': [encoded('zstd', zipped), unsupported],
  'a repeated content-encoding header is refused': [encoded(['gzip', 'gzip'], zipped), unsupported],
};
