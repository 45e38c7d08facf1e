import { isLargerThanBody, jsonText, MAX_BODY_BYTES } from '../verify/callback-body.ts';
import { encoder } from '../verify/json-members.ts';
import type { TimeLimit } from './time-limit.ts';

/** A callback request, in the terms that every framework shares. An adapter fills it in and decides nothing. */
export interface IncomingCallback {
  readonly method: string;
  /** The value of a header, by its name in lower case. A repeated header is an array, or joined with ', '. */
  readonly header: (name: string) => string | readonly string[] | null | undefined;
  readonly body: IncomingBody;
  /** Whether the server has stopped listening: the answer then ends the connection. Asked when the answer is known. */
  readonly isClosing?: (() => boolean) | undefined;
}

/** A repeated header cannot be read: it is joined, which no grammar accepts. */
export function headerOf(request: IncomingCallback, name: string): string | undefined {
  const value = request.header(name) ?? undefined;
  return typeof value === 'object' ? value.join(', ') : value;
}

/** How far a callback's body has been read. Parsed or not, it verifies: fields are signed, not bytes (decision D10). */
export type IncomingBody =
  | { readonly state: 'unread'; readonly read: BodySource }
  | { readonly state: 'parsed'; readonly data: unknown }
  | { readonly state: 'consumed' };

/**
 * Starts to read a body into `sink`. The returned function stops before the end, and leaves the connection open.
 *
 * @param declaredLength In bytes, at most 64 KiB; undefined when the sender declares none.
 */
export type BodySource = (sink: BodySink, declaredLength: number | undefined) => () => void;

/** Receives a body while it arrives. */
export interface BodySink {
  /** A string comes from a Node stream with an encoding. */
  readonly chunk: (piece: Uint8Array | string) => void;
  readonly end: () => void;
  /** The sender disconnected before the end. */
  readonly abort: () => void;
}

export type BodyProblem = 'body_too_large' | 'body_timeout' | 'body_aborted' | 'body_malformed';

/** Reads a body to its end, within the limits of size and time. Never rejects, and never waits for an abandoned stream. */
export function readBodyBytes(
  source: BodySource,
  declaredLength: number | undefined,
  limit: TimeLimit,
): Promise<Uint8Array | BodyProblem> {
  return new Promise((resolve) => {
    let buffer: Uint8Array = EMPTY;
    let length = 0;
    let giveUp = (): void => {};
    let isDone = false;
    const done = (result: Uint8Array | BodyProblem): void => {
      if (isDone) return;
      isDone = true;
      limit.stop(limited);
      resolve(result);
      if (typeof result === 'string') giveUp(); // Last: a source that throws here cannot change the result.
    };
    const limited = limit.start(() => done('body_timeout'));
    const sink: BodySink = {
      chunk(piece) {
        const bytes = typeof piece === 'string' ? encoder.encode(piece) : piece;
        if (length + bytes.length > MAX_BODY_BYTES) return done('body_too_large');
        buffer = length === 0 ? bytes : append(buffer, length, bytes);
        length += bytes.length;
      },
      end: () => done(buffer.length === length ? buffer : buffer.subarray(0, length)),
      abort: () => done('body_aborted'),
    };
    giveUp = source(sink, declaredLength);
    if (isDone) giveUp(); // A source that is not asynchronous may have ended by now.
  });
}

const EMPTY = /* @__PURE__ */ new Uint8Array();

/** Most bodies are one chunk, which is kept without a copy; a body in many pieces goes into one growing buffer (threat A30). */
function append(buffer: Uint8Array, length: number, piece: Uint8Array): Uint8Array {
  const needed = length + piece.length;
  let target = buffer;
  if (buffer.length < needed || length === buffer.length) {
    target = new Uint8Array(Math.max(1024, needed * 2));
    target.set(buffer.subarray(0, length));
  }
  target.set(piece, length);
  return target;
}

/** Whether the result of a body parser is larger than a body may be (threat A34). Asked only when no length bounds it. */
export function isParsedTooLarge(data: unknown): boolean {
  if (ArrayBuffer.isView(data)) return data.byteLength > MAX_BODY_BYTES;
  try {
    return isLargerThanBody(typeof data === 'string' ? data : jsonText(data));
  } catch {
    return true; // Nested so deeply that it cannot be written.
  }
}
