/** Reads a stream to its end. Returns undefined if it is longer than `maxBytes`, and does not read the rest. */
export async function readStream(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  let buffer: Uint8Array = new Uint8Array();
  for (let length = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return buffer.subarray(0, length);
    if (length + value.length > maxBytes) return undefined;
    buffer = append(buffer, length, value);
    length += value.length;
  }
}

/**
 * Appends a piece after the first `length` bytes of a buffer. Most bodies are one piece, which is kept without a copy; a body in
 * many pieces goes into one growing buffer (threat A30).
 */
export function append(buffer: Uint8Array, length: number, piece: Uint8Array): Uint8Array {
  if (length === 0) return piece;
  const needed = length + piece.length;
  let target = buffer;
  if (buffer.length < needed || length === buffer.length) {
    target = new Uint8Array(Math.max(1024, needed * 2));
    target.set(buffer.subarray(0, length));
  }
  target.set(piece, length);
  return target;
}
