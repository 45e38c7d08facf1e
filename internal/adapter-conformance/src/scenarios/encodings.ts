import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest, TEXT } from '../http-request.ts';
import { ANSWERS, closing } from '../outcome.ts';
import { type CallbackScenario, expecting } from '../scenario.ts';

const zipped = gzipSync(TEXT);
const encoded = (encoding: string | readonly string[], body: string | Uint8Array = zipped): Buffer =>
  callbackRequest({ body, headers: { 'content-encoding': encoding } });

const gzipped = (...parts: readonly Buffer[]): Buffer => encoded('gzip', Buffer.concat(parts));

export const encodings: readonly CallbackScenario[] = [
  ...expecting(accepted(), {
    'a body in gzip verifies': encoded('gzip'),
    'a body in gzip, sent in chunks, verifies': chunkedCallbackRequest(
      [zipped.subarray(0, 7), zipped.subarray(7)],
      { headers: { 'content-encoding': 'gzip' } },
    ),
    'a body in deflate verifies': encoded('deflate', deflateSync(TEXT)),
    'the encoding GZIP is gzip': encoded('GZIP'),
    'the encoding x-gzip is gzip': encoded('x-gzip'),
    'the encoding identity changes nothing': encoded('identity', TEXT),
  }),
  ...expecting(refused('encoding_unsupported', ANSWERS.unsupportedMediaType), {
    'the encoding zstd is refused': encoded('zstd', TEXT),
    'the encoding br is refused': encoded('br', TEXT),
    'the encoding gzip, gzip is refused': encoded('gzip, gzip', TEXT),
    'a repeated content-encoding header is refused': encoded(['gzip', 'gzip']),
  }),
  ...expecting(refused('encoding_unsupported', closing(ANSWERS.unsupportedMediaType)), {
    'a chunked body in an unknown encoding is refused, and the connection is closed': chunkedCallbackRequest(
      [zipped],
      { headers: { 'content-encoding': 'zstd' } },
    ),
  }),
  ...expecting(refused('body_malformed'), {
    'corrupted gzip is refused': encoded('gzip', Buffer.from(zipped).fill(0xff, 20, 60)),
    'truncated gzip is refused': encoded('gzip', zipped.subarray(0, -12)),
    'deflate without its header is refused': encoded('deflate', deflateRawSync(TEXT)),
    // Some versions of Node's own streams accept these four, others refuse them.
    'gzip of two members is refused on every Node': gzipped(
      gzipSync(TEXT.slice(0, 40)),
      gzipSync(TEXT.slice(40)),
    ),
    'gzip whose second member is empty is refused on every Node': gzipped(zipped, gzipSync('')),
    'gzip with a trailing byte is refused on every Node': gzipped(zipped, Buffer.of(0)),
    'gzip with trailing text is refused on every Node': gzipped(zipped, Buffer.from('trailing text')),
    'plain text labelled gzip is refused': encoded('gzip', TEXT),
    'an empty body labelled gzip is refused': encoded('gzip', ''),
  }),
  ...expecting(refused('body_too_large', ANSWERS.contentTooLarge), {
    'threat A18: a gzip bomb is refused': encoded('gzip', gzipSync(Buffer.alloc(20_000_000))),
  }),
];
