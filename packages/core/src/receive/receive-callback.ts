import { ConfigurationError } from '../errors.ts';
import type { CallbackBody } from '../verify/callback-body.ts';
import type { RefusalCode } from '../verify/refusal.ts';
import { parseSignature } from '../verify/signature.ts';
import type { VerifiedCallback } from '../verify/verified.ts';
import { type CallbackReceiver, errorReply, jsonReply, type Reply, refused, runHandler } from './receiver.ts';
import {
  type ContentEncoding,
  type IncomingBody,
  isLargerThanBody,
  MAX_BODY_BYTES,
  readBodyBytes,
} from './request-body.ts';

/** A callback request, in the terms that every framework shares. An adapter fills it in and decides nothing. */
export interface IncomingCallback {
  readonly method: string;
  /** The value of a header, by its name in lower case. A repeated header is an array, or joined with ', '. */
  readonly header: (name: string) => string | readonly string[] | null | undefined;
  readonly body: IncomingBody;
}

/** Core's answer, or, without `onCallback`, a verified callback for the adapter to pass through. */
export type ReceivedCallback =
  | { readonly reply: Reply; readonly callback?: never }
  | { readonly reply: undefined; readonly callback: VerifiedCallback };

const ACCEPTED: Reply = jsonReply(200, { status: 'accepted' });
const UNAUTHORIZED: Reply = errorReply(401, 'unauthorized');
const CLOSE = { connection: 'close' };

/**
 * The seam: the only place that decides the status and the body of a callback's answer. Checks run cheapest first, so that
 * an unauthenticated sender costs little (threat A18): method, content encoding, signature grammar, length, body,
 * verification.
 *
 * 200 accepted; 401 refused, the same body for every reason; 400, 405, 408, 413 and 415 for what is no readable callback;
 * `failureStatus` with `Retry-After` when the handler fails. Every refusal reaches `onRefused`. Never rejects.
 *
 * @example
 * const { reply } = await receiveCallback(request, createCallbackReceiver({ signingKey, onCallback }));
 */
export async function receiveCallback(
  request: IncomingCallback,
  receiver: CallbackReceiver,
): Promise<ReceivedCallback> {
  const early = refusedUnread(request);
  if (early !== undefined) {
    // The rest of a long body would be read, and thrown away, to keep the connection.
    const reply = isLong(request)
      ? { ...early.reply, headers: { ...early.reply.headers, ...CLOSE } }
      : early.reply;
    return refused(receiver, early.code, reply);
  }
  const body = await readBody(request, receiver);
  if (body.reply !== undefined) return body;
  const { onCallback, onAuthenticRefusal } = receiver;
  const result = receiver.verifier.verifyCallback({
    signature: text(request, 'hmac-signature'),
    body: body.data,
  });
  if (result.ok) {
    if (onCallback === undefined) return { reply: undefined, callback: result };
    const { failure } = await runHandler(() => onCallback(result), receiver);
    return { reply: failure ?? ACCEPTED };
  }
  receiver.reportRefusal(result);
  if (!result.authentic || onAuthenticRefusal === undefined) return { reply: UNAUTHORIZED };
  const { failure } = await runHandler(() => onAuthenticRefusal(result), receiver);
  return { reply: failure ?? ACCEPTED };
}

function refusedUnread(request: IncomingCallback): { code: RefusalCode; reply: Reply } | undefined {
  if (request.method !== 'POST') {
    return { code: 'method_not_allowed', reply: errorReply(405, 'method_not_allowed', { allow: 'POST' }) };
  }
  if (contentEncoding(request) === undefined) {
    return { code: 'encoding_unsupported', reply: errorReply(415, 'unsupported_media_type') };
  }
  const signature = request.header('hmac-signature');
  if (signature === undefined || signature === null || signature === '') {
    return { code: 'signature_missing', reply: UNAUTHORIZED };
  }
  if (parseSignature(signature) === undefined) return { code: 'signature_malformed', reply: UNAUTHORIZED };
  if (declaredLength(request) > MAX_BODY_BYTES) return { code: 'body_too_large', reply: TOO_LARGE };
  return undefined;
}

const TOO_LARGE: Reply = errorReply(413, 'content_too_large', CLOSE);

type Body =
  | { readonly reply: undefined; readonly data: CallbackBody | undefined }
  | { readonly reply: Reply };

async function readBody(request: IncomingCallback, receiver: CallbackReceiver): Promise<Body> {
  const { body } = request;
  const encoding = contentEncoding(request) ?? 'identity';
  if (body.state === 'consumed') {
    receiver.reportError(consumedError());
    return { reply: errorReply(receiver.failureStatus, 'body_consumed', { 'retry-after': '30' }) };
  }
  if (body.state === 'parsed') {
    const isBounded = encoding === 'identity' && Number.isFinite(declaredLength(request));
    if (!isBounded && isLargerThanBody(body.data)) return refused(receiver, 'body_too_large', TOO_LARGE);
    return { reply: undefined, data: body.data as CallbackBody };
  }
  const read = await readBodyBytes(body.read, encoding, receiver.bodyLimit);
  if (typeof read !== 'string') return { reply: undefined, data: read };
  return refused(receiver, read, UNREAD[read]);
}

const UNREAD = {
  body_malformed: UNAUTHORIZED,
  body_too_large: TOO_LARGE,
  body_timeout: errorReply(408, 'request_timeout', CLOSE),
  body_aborted: errorReply(400, 'request_aborted', CLOSE),
} as const;

function consumedError(): ConfigurationError {
  return new ConfigurationError(
    'body',
    'The callback cannot be verified: other middleware consumed the request body without parsing it. Mount ' +
      'paymentCallbacks() before it, or use a JSON body parser.',
  );
}

/** A repeated header is none that can be read: joined, so that it is refused. */
function text(request: IncomingCallback, name: string): string | undefined {
  const value = request.header(name) ?? undefined;
  return typeof value === 'object' ? value.join(', ') : value;
}

/** In bytes; NaN when the sender declares none. */
function declaredLength(request: IncomingCallback): number {
  return Number(text(request, 'content-length') ?? Number.NaN);
}

/** Whether more than a callback's worth of bytes may still arrive. */
function isLong(request: IncomingCallback): boolean {
  if (request.body.state !== 'unread') return false;
  return declaredLength(request) > MAX_BODY_BYTES || text(request, 'transfer-encoding') !== undefined;
}

/** Undefined for an encoding that cannot be decoded. */
function contentEncoding(request: IncomingCallback): ContentEncoding | undefined {
  const name = text(request, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === 'gzip' || name === 'deflate') return name;
  return name === 'x-gzip' ? 'gzip' : undefined;
}
