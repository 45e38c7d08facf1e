import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { sampleCallback } from '@payment-service/core/testing';
import { accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest } from '../http-request.ts';
import { ANSWERS, closing } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

const text = JSON.stringify(sampleCallback());
const zipped = gzipSync(text);
const broken = Buffer.from(zipped).fill(0xff, 20, 60);
const gzip = { 'content-encoding': 'gzip' };
const deflate = { 'content-encoding': 'deflate' };
const unsupported = refused('encoding_unsupported', ANSWERS.unsupportedMediaType);

/** Some versions of Node's own streams accept these, others refuse them. */
const NOT_ONE_MEMBER: Readonly<Record<string, Uint8Array>> = {
  'gzip of two members': Buffer.concat([gzipSync(text.slice(0, 40)), gzipSync(text.slice(40))]),
  'gzip whose second member is empty': Buffer.concat([zipped, gzipSync('')]),
  'gzip with a trailing byte': Buffer.concat([zipped, Buffer.of(0)]),
  'gzip with trailing text': Buffer.concat([zipped, Buffer.from('trailing text')]),
};

export const encodings: readonly CallbackScenario[] = [
  {
    name: 'a body in gzip verifies',
    play: callbackRequest({ body: zipped, headers: gzip }),
    expect: accepted(),
  },
  {
    name: 'a body in gzip, sent in chunks, verifies',
    play: chunkedCallbackRequest([zipped.subarray(0, 7), zipped.subarray(7)], { headers: gzip }),
    expect: accepted(),
  },
  {
    name: 'a body in deflate verifies',
    play: callbackRequest({ body: deflateSync(text), headers: deflate }),
    expect: accepted(),
  },
  ...['GZIP', 'x-gzip'].map((name) => ({
    name: `the encoding ${name} is gzip`,
    play: callbackRequest({ body: zipped, headers: { 'content-encoding': name } }),
    expect: accepted(),
  })),
  {
    name: 'the encoding identity changes nothing',
    play: callbackRequest({ headers: { 'content-encoding': 'identity' } }),
    expect: accepted(),
  },
  ...['zstd', 'br', 'gzip, gzip'].map((name) => ({
    name: `the encoding ${name} is refused`,
    play: callbackRequest({ headers: { 'content-encoding': name } }),
    expect: unsupported,
  })),
  {
    name: 'a repeated content-encoding header is refused',
    play: callbackRequest({ body: zipped, headers: { 'content-encoding': ['gzip', 'gzip'] } }),
    expect: unsupported,
  },
  {
    name: 'a chunked body in an unknown encoding is refused, and the connection is closed',
    play: chunkedCallbackRequest([zipped], { headers: { 'content-encoding': 'zstd' } }),
    expect: refused('encoding_unsupported', closing(ANSWERS.unsupportedMediaType)),
  },
  {
    name: 'corrupted gzip is refused',
    play: callbackRequest({ body: broken, headers: gzip }),
    expect: refused('body_malformed'),
  },
  {
    name: 'truncated gzip is refused',
    play: callbackRequest({ body: zipped.subarray(0, -12), headers: gzip }),
    expect: refused('body_malformed'),
  },
  {
    name: 'deflate without its header is refused',
    play: callbackRequest({ body: deflateRawSync(text), headers: deflate }),
    expect: refused('body_malformed'),
  },
  ...Object.entries(NOT_ONE_MEMBER).map(([name, body]) => ({
    name: `${name} is refused on every Node`,
    play: callbackRequest({ body, headers: gzip }),
    expect: refused('body_malformed'),
  })),
  {
    name: 'plain text labelled gzip is refused',
    play: callbackRequest({ headers: gzip }),
    expect: refused('body_malformed'),
  },
  {
    name: 'an empty body labelled gzip is refused',
    play: callbackRequest({ body: '', headers: gzip }),
    expect: refused('body_malformed'),
  },
  {
    name: 'threat A18: a gzip bomb is refused',
    play: callbackRequest({ body: gzipSync(Buffer.alloc(20_000_000)), headers: gzip }),
    expect: refused('body_too_large', ANSWERS.contentTooLarge),
  },
];
