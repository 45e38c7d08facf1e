import { isOneMember } from './gzip-member.ts';

/**
 * Decompresses a body with the web's own streams. The same verdicts as inflate.node.ts: Node 20 and 22 accept several members
 * and trailing bytes, and later ones do not.
 */
export async function inflate(
  bytes: Uint8Array,
  encoding: 'gzip' | 'deflate',
  maxBytes: number,
): Promise<Uint8Array | 'body_too_large' | 'body_malformed'> {
  const result = await decompress(bytes, encoding, maxBytes);
  if (typeof result === 'string') return result;
  // A body of which a shorter part is whole has something after it.
  const shorter = await decompress(bytes.subarray(0, -1), encoding, maxBytes);
  const isWhole = shorter === 'body_malformed' && (encoding === 'deflate' || isOneMember(bytes, result));
  return isWhole ? result : 'body_malformed';
}

async function decompress(
  bytes: Uint8Array,
  encoding: 'gzip' | 'deflate',
  maxBytes: number,
): ReturnType<typeof inflate> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream(encoding));
  const reader = stream.getReader();
  const data = new Uint8Array(maxBytes);
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return data.subarray(0, length);
      if (length + value.length > maxBytes) return 'body_too_large';
      data.set(value, length);
      length += value.length;
    }
  } catch {
    return 'body_malformed';
  } finally {
    void reader.cancel().catch(() => undefined); // The verdict is known; a failing cancel adds nothing to it.
  }
}
