import { deflateSync, gzipSync } from 'node:zlib';
import { sampleCallback } from '@payment-service/core/testing';
import { accepted, answered, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest } from '../http-request.ts';
import { ANSWERS } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

const text = JSON.stringify(sampleCallback());
const zipped = gzipSync(text);
const broken = Buffer.from(zipped).fill(0xff, 20, 60);
const gzip = { 'content-encoding': 'gzip' };

export const encodings: readonly CallbackScenario[] = [
  {
    name: 'gzip is read',
    play: callbackRequest({ body: zipped, headers: gzip }),
    expect: accepted(),
  },
  {
    name: 'gzip in chunks is read',
    play: chunkedCallbackRequest([zipped.subarray(0, 7), zipped.subarray(7)], { headers: gzip }),
    expect: accepted(),
  },
  {
    name: 'deflate is read',
    play: callbackRequest({ body: deflateSync(text), headers: { 'content-encoding': 'deflate' } }),
    expect: accepted(),
  },
  {
    name: 'the name of an encoding may be in upper case',
    play: callbackRequest({ body: zipped, headers: { 'content-encoding': 'GZIP' } }),
    expect: accepted(),
  },
  {
    name: 'identity is read',
    play: callbackRequest({ headers: { 'content-encoding': 'identity' } }),
    expect: accepted(),
  },
  {
    name: 'an encoding that is not known is refused',
    play: callbackRequest({ headers: { 'content-encoding': 'zstd' } }),
    expect: answered(ANSWERS.unsupportedMediaType),
  },
  {
    name: 'two encodings on one another are refused',
    play: callbackRequest({ body: gzipSync(zipped), headers: { 'content-encoding': 'gzip, gzip' } }),
    expect: answered(ANSWERS.unsupportedMediaType),
  },
  {
    name: 'a repeated content-encoding header is refused',
    play: callbackRequest({ body: zipped, headers: { 'content-encoding': ['gzip', 'gzip'] } }),
    expect: answered(ANSWERS.unsupportedMediaType),
  },
  {
    name: 'corrupted gzip is refused',
    play: callbackRequest({ body: broken, headers: gzip }),
    expect: refused('body_malformed'),
  },
  {
    name: 'gzip that breaks off is refused',
    play: callbackRequest({ body: zipped.subarray(0, -12), headers: gzip }),
    expect: refused('body_malformed'),
  },
  {
    name: 'plain text that says gzip is refused',
    play: callbackRequest({ headers: gzip }),
    expect: refused('body_malformed'),
  },
  {
    name: 'threat A18: a gzip bomb is refused',
    play: callbackRequest({ body: gzipSync(Buffer.alloc(20_000_000)), headers: gzip }),
    expect: answered(ANSWERS.contentTooLarge),
  },
];
