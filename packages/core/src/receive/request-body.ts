/** Who has read a callback's body so far. Parsed or not, it verifies: fields are signed, not bytes. */
export type IncomingBody =
  | { readonly state: 'unread'; readonly stream: BodyStream }
  | { readonly state: 'parsed'; readonly data: unknown }
  | { readonly state: 'consumed' };

/** Chunks of text come from a Node stream on which somebody has called `setEncoding('utf8')`. */
export type BodyStream = AsyncIterable<Uint8Array | string>;

/** The most bytes of a callback's body, before and after decompression. */
export const MOST_BODY_BYTES: number = 64 * 1024;

export type ContentEncoding = 'identity' | 'gzip' | 'deflate';

export type BodyBytes =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly problem: 'too_large' | 'too_slow' | 'aborted' | 'malformed' };

/**
 * Reads a body to its end: at most 64 KiB before and after decompression, within the given time. Never hangs, and
 * never waits for a stream that is being given up.
 */
export async function readBodyBytes(
  stream: BodyStream,
  encoding: ContentEncoding,
  timeoutMs: number,
): Promise<BodyBytes> {
  const received = await collect(stream, timeoutMs);
  if (!received.ok || encoding === 'identity') return received;
  const decompressed = new Blob([received.bytes]).stream().pipeThrough(new DecompressionStream(encoding));
  const inflated = await collect(chunksOf(decompressed), timeoutMs);
  return inflated.ok || inflated.problem !== 'aborted' ? inflated : { ok: false, problem: 'malformed' };
}

async function collect(stream: BodyStream, timeoutMs: number): Promise<BodyBytes> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let iterator: AsyncIterator<Uint8Array | string> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, 'late');
  });
  const giveUp = (problem: 'too_large' | 'too_slow'): BodyBytes => {
    // Not awaited: a stalled stream would answer only when the sender does. What it says no longer matters.
    void Promise.resolve(iterator?.return?.()).catch(() => undefined);
    return { ok: false, problem };
  };
  try {
    iterator = stream[Symbol.asyncIterator](); // Throws where somebody else holds a lock on a web stream.
    for (;;) {
      const next = await Promise.race([iterator.next(), late]);
      if (next === 'late') return giveUp('too_slow');
      if (next.done === true) return { ok: true, bytes: concatenate(chunks, length) };
      const chunk = typeof next.value === 'string' ? encoder.encode(next.value) : next.value;
      length += chunk.length;
      if (length > MOST_BODY_BYTES) return giveUp('too_large');
      chunks.push(chunk);
    }
  } catch {
    // The sender is gone, or the compressed data is broken; in both cases there is nothing to verify.
    return { ok: false, problem: 'aborted' };
  } finally {
    clearTimeout(timer);
  }
}

const encoder = new TextEncoder();

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

/** A web stream as an async iterable; not every runtime's ReadableStream is one. */
export async function* chunksOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
