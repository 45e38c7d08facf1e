import { gunzipSync, inflateSync } from 'node:zlib';
import { isOneMember } from './gzip-member.ts';

/**
 * Decompresses a body: all of it is one member, with nothing after it. `DecompressionStream` gives different verdicts on
 * several members and on trailing bytes in Node 20 and 24; this gives one.
 */
export function inflate(
  bytes: Uint8Array,
  encoding: 'gzip' | 'deflate',
  maxBytes: number,
): Uint8Array | 'body_too_large' | 'body_malformed' {
  const decompress = encoding === 'gzip' ? gunzipSync : inflateSync;
  try {
    // With `info`, the result has a shape that the types do not show.
    const answer: unknown = decompress(bytes, { maxOutputLength: maxBytes, info: true });
    const { buffer, engine } = answer as { buffer: Buffer; engine: { bytesWritten: number } };
    const isWhole = engine.bytesWritten === bytes.length;
    return isWhole && (encoding === 'deflate' || isOneMember(bytes, buffer)) ? buffer : 'body_malformed';
  } catch (error) {
    const isTooLarge = error instanceof RangeError && Reflect.get(error, 'code') === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? 'body_too_large' : 'body_malformed';
  }
}
