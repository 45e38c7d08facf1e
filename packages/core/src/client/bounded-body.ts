import { untilAborted } from './until-aborted.ts';

/** Far above any real answer. Counted after decompression: 200 KB of gzip can hold 200 MB. */
export const MOST_BODY_BYTES: number = 1024 * 1024;

/**
 * Reads the body of a response, up to `MOST_BODY_BYTES`.
 *
 * @returns undefined when it is longer; the rest is then neither read nor kept, and the connection is given up.
 * @throws the error of the connection, or `signal.reason`.
 */
export async function readBoundedBody(
  response: Response,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array();
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  let isComplete = false;
  try {
    while (length <= MOST_BODY_BYTES) {
      const { done, value } = await untilAborted(reader.read(), signal);
      if (done) {
        isComplete = true;
        return join(chunks, length);
      }
      chunks.push(value);
      length += value.byteLength;
    }
    return undefined;
  } finally {
    // The outcome is known by now; a failing cancel has nothing to add to it.
    if (!isComplete) void reader.cancel().catch(() => undefined);
  }
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}
