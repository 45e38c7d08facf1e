import { append, readStream } from '../read-stream.ts';
import { isLargerThanBody, jsonText, MAX_BODY_BYTES } from '../verify/callback-body.ts';
import { encoder } from '../verify/json-members.ts';
import type { TimeLimit } from './time-limit.ts';

/** A callback request, in the terms that every framework shares. Adapters fill it in and decide nothing. */
export interface IncomingCallback {
  readonly method: string;
  /** The path or the address, before any prefix is removed. Only for the warning about a route that is mounted at the root. */
  readonly url?: string | undefined;
  /** The value of a header by its lower-case name. A repeated header is an array, or joined with ', '. */
  readonly header: (name: string) => string | readonly string[] | null | undefined;
  readonly body: IncomingBody;
  /** Whether the server has stopped listening, so that the answer must end the connection. Called once the answer is known. */
  readonly isClosing?: (() => boolean) | undefined;
}

/** A repeated header is joined, which no grammar accepts, so it is refused as unreadable. */
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
 * Starts to read a body into `sink`. The returned function stops before the end and leaves the connection open.
 *
 * @param declaredLength In bytes, at most 64 KiB; undefined when the sender declares none.
 */
export type BodySource = (sink: BodySink, declaredLength: number | undefined) => () => void;

/** Receives a body as it arrives. */
export interface BodySink {
  /** A string if the Node stream has an encoding. */
  readonly chunk: (piece: Uint8Array | string) => void;
  readonly end: () => void;
  /** The sender disconnected before the end. */
  readonly abort: () => void;
}

export type BodyProblem = 'body_too_large' | 'body_timeout' | 'body_aborted' | 'body_malformed';

/** Reads a body to its end, within its size and time limits. Never rejects, and never waits for an abandoned stream. */
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
        buffer = append(buffer, length, bytes);
        length += bytes.length;
      },
      end: () => done(buffer.length === length ? buffer : buffer.subarray(0, length)),
      abort: () => done('body_aborted'),
    };
    giveUp = source(sink, declaredLength);
    if (isDone) giveUp(); // A synchronous source may have ended by now.
  });
}

const EMPTY = /* @__PURE__ */ new Uint8Array();

/** Whether the result of a body parser exceeds the size limit (threat A34). Called only if Content-Length does not limit it. */
export function isParsedTooLarge(data: unknown): boolean {
  if (ArrayBuffer.isView(data)) return data.byteLength > MAX_BODY_BYTES;
  try {
    return isLargerThanBody(typeof data === 'string' ? data : jsonText(data));
  } catch {
    return true; // Nested too deeply to serialise.
  }
}

/** The body encodings that a route reads. All others are refused. */
const ENCODINGS: readonly string[] = ['identity', 'gzip', 'x-gzip', 'deflate'];

export type ContentEncoding = 'identity' | 'gzip' | 'deflate';

/** Undefined for an encoding that a route does not read. */
export function encodingOf(header: string | undefined): ContentEncoding | undefined {
  const name = header?.trim().toLowerCase() ?? 'identity';
  if (!ENCODINGS.includes(name)) return undefined;
  return name === 'x-gzip' ? 'gzip' : (name as ContentEncoding);
}

/**
 * Whether bytes begin like this encoding (RFC 1952, 2.3.1; RFC 1950, 2.2), which no JSON does. API Gateway, its bridges and
 * framework hooks decompress a body but keep the header: the bytes are then read unchanged.
 */
export function isEncoded([first = 0, second = 0]: Uint8Array, encoding: ContentEncoding): boolean {
  if (encoding === 'gzip') return first === 0x1f && second === 0x8b;
  return encoding === 'deflate' && (first & 15) === 8 && (first * 256 + second) % 31 === 0;
}

/**
 * Decompresses a body, which must be exactly one member with nothing after it. Uses web streams, which every runtime has. Node 20
 * and 22 accept several members and trailing bytes, and later versions do not; this gives the same verdict everywhere.
 */
export async function inflate(
  bytes: Uint8Array,
  encoding: 'gzip' | 'deflate',
  maxBytes: number,
): Promise<Uint8Array | 'body_too_large' | 'body_malformed'> {
  const result = await decompress(bytes, encoding, maxBytes);
  if (typeof result === 'string') return result;
  // If the body is still complete without its last byte, something follows the member.
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
  try {
    return (await readStream(reader, maxBytes)) ?? 'body_too_large';
  } catch {
    return 'body_malformed';
  } finally {
    void reader.cancel().catch(() => undefined); // The verdict is already known; a failing cancel adds nothing to it.
  }
}

/** RFC 1952: a member ends with the checksum and the length of its data. */
function isOneMember(bytes: Uint8Array, data: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  const isLastLength = new DataView(buffer, byteOffset).getUint32(length - 4, true) === data.length;
  // The end of an empty member and the start of the next: no JSON, compressed or stored, contains these bytes.
  const emptyMember = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0x1f, 0x8b);
  const latin1 = new TextDecoder('latin1'); // Node versions decode 0x8b differently, so both sides are decoded.
  return isLastLength && !latin1.decode(bytes).includes(latin1.decode(emptyMember));
}
