/** The encodings of a body that a route reads. All others are refused. */
const ENCODINGS: readonly string[] = ['identity', 'gzip', 'x-gzip', 'deflate'];

export type ContentEncoding = 'identity' | 'gzip' | 'deflate';

/** Undefined for an encoding that a route does not read. */
export function encodingOf(header: string | undefined): ContentEncoding | undefined {
  const name = header?.trim().toLowerCase() ?? 'identity';
  if (!ENCODINGS.includes(name)) return undefined;
  return name === 'x-gzip' ? 'gzip' : (name as ContentEncoding);
}

/**
 * Whether bytes begin as this encoding does (RFC 1952, 2.3.1; RFC 1950, 2.2), which no JSON does. API Gateway and its bridges
 * decompress a body and keep the header, and so do hooks of frameworks: then the bytes are read as they are.
 */
export function isEncoded([first = 0, second = 0]: Uint8Array, encoding: ContentEncoding): boolean {
  if (encoding === 'gzip') return first === 0x1f && second === 0x8b;
  return encoding === 'deflate' && (first & 15) === 8 && (first * 256 + second) % 31 === 0;
}

/**
 * Decompresses a body that is encoded: all of it is one member, with nothing after it. By the web's own streams, which every
 * runtime has. Node 20 and 22 accept several members and trailing bytes, and later ones do not; this gives one verdict.
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

/** RFC 1952: a member ends with the checksum and the length of its own data. */
function isOneMember(bytes: Uint8Array, data: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  const isLastLength = new DataView(buffer, byteOffset).getUint32(length - 4, true) === data.length;
  // The end of an empty member, and the start of the next: no JSON, compressed or stored, contains these bytes.
  const emptyMember = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0x1f, 0x8b);
  const latin1 = new TextDecoder('latin1'); // Node versions differ in what it makes of 0x8b.
  return isLastLength && !latin1.decode(bytes).includes(latin1.decode(emptyMember));
}
