import { gunzipSync, inflateSync } from 'node:zlib';

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

/** The end of an empty member, and the start of the next. No JSON, compressed or stored, contains these bytes. */
const EMPTY_MEMBER = Buffer.from('00000000000000001f8b', 'hex');

/** RFC 1952: a member ends with the checksum and the length of its own data. */
function isOneMember(bytes: Uint8Array, data: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  const isLastLength = new DataView(buffer, byteOffset).getUint32(length - 4, true) === data.length;
  return isLastLength && !Buffer.from(buffer, byteOffset, length).includes(EMPTY_MEMBER);
}
