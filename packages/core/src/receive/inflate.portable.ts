/** Decompresses a body with the web's own streams. The same verdicts as inflate.node.ts. */
export async function inflate(
  bytes: Uint8Array,
  encoding: 'gzip' | 'deflate',
  maxBytes: number,
): Promise<Uint8Array | 'body_too_large' | 'body_malformed'> {
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
