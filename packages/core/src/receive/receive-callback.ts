import { ConfigurationError, UnavailableError } from '../errors.ts';
import { type Refusal, refuse } from '../verify/refusal.ts';
import { parseSignature } from '../verify/signature.ts';
import type { VerifiedCallback } from '../verify/verified.ts';
import type { CallbackReceiver } from './receiver.ts';
import { errorReply, jsonReply, type Reply } from './reply.ts';
import { type ContentEncoding, type IncomingBody, MOST_BODY_BYTES, readBodyBytes } from './request-body.ts';

/** A callback request in the terms that every framework shares. An adapter fills it in and decides nothing. */
export interface IncomingCallback {
  readonly method: string;
  /** Names and values in wire order, repeated names kept: `rawHeaders` in Node. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly body: IncomingBody;
}

/** The answer, and the callback when it verified and the handler, if there is one, resolved. */
export interface ReceivedCallback extends Reply {
  readonly callback?: VerifiedCallback;
}

const ACCEPTED = jsonReply(200, { status: 'accepted' });
const UNAUTHORIZED = errorReply(401, 'unauthorized');
const CLOSE = { connection: 'close' };

/**
 * The seam: the only place that decides the status and the body of a callback's answer. From cheap to dear, so that
 * an unauthenticated sender costs little (threat A18): method, content type, signature grammar, length, body, verification.
 *
 * 200 accepted; 401 refused, the same body for every reason; 405; 408 body too slow; 413 over 64 KiB; 415;
 * `failureStatus` when the handler fails or somebody else has consumed the body; 503 when the handler throws an
 * `UnavailableError`. Never rejects.
 *
 * @example
 * const { status, headers, body } = await receiveCallback(request, createCallbackReceiver({ signingKey, onCallback }));
 */
export async function receiveCallback(
  request: IncomingCallback,
  receiver: CallbackReceiver,
): Promise<ReceivedCallback> {
  if (request.method !== 'POST') return errorReply(405, 'method_not_allowed', { allow: 'POST' });
  const headers = valuesByName(request.headers);
  const encoding = contentEncoding(headers.get('content-encoding'));
  if (!isJson(headers.get('content-type')) || encoding === undefined) {
    return errorReply(415, 'unsupported_media_type');
  }
  const signature = headers.get('hmac-signature');
  const refused = (refusal: Refusal): Reply => {
    receiver.reportRefusal(refusal);
    return UNAUTHORIZED;
  };
  if (signature === undefined || signature[0] === '') return refused(refuse('signature_missing'));
  if (signature.length > 1 || parseSignature(signature[0]) === undefined)
    return refused(refuse('signature_malformed'));

  const body = await readBody(request.body, headers.get('content-length'), encoding, receiver);
  if ('reply' in body) return body.reply;
  if ('malformed' in body) return refused(refuse('body_malformed'));
  const result = receiver.verifier.verifyCallback({ signature: signature[0], body: body.data as object });
  const { onCallback, onAuthenticRefusal } = receiver;
  if (result.ok) return handled({ ...ACCEPTED, callback: result }, () => onCallback?.(result), receiver);
  const reply = refused(result);
  if (!result.authentic || onAuthenticRefusal === undefined) return reply;
  return handled(ACCEPTED, () => onAuthenticRefusal(result), receiver);
}

/** The reply once the handler has resolved, or what its failure makes of it. */
async function handled<R extends Reply>(
  reply: R,
  handler: () => unknown,
  receiver: CallbackReceiver,
): Promise<R | Reply> {
  try {
    await handler();
    return reply;
  } catch (error) {
    receiver.reportError(error);
    if (!(error instanceof UnavailableError)) return errorReply(receiver.failureStatus, 'handler_failed');
    return errorReply(503, 'unavailable', { 'retry-after': String(error.retryAfterSeconds) });
  }
}

type Body = { readonly data: unknown } | { readonly malformed: true } | { readonly reply: Reply };

async function readBody(
  body: IncomingBody,
  lengths: readonly string[] | undefined,
  encoding: ContentEncoding,
  { bodyTimeoutMs, failureStatus, reportError }: CallbackReceiver,
): Promise<Body> {
  if (body.state === 'parsed') return { data: body.data };
  if (body.state === 'consumed') {
    reportError(consumedError());
    return { reply: errorReply(failureStatus, 'body_consumed') };
  }
  const tooLarge = { reply: errorReply(413, 'content_too_large', CLOSE) };
  if (lengths?.some((length) => Number(length) > MOST_BODY_BYTES)) return tooLarge;
  const read = await readBodyBytes(body.stream, encoding, bodyTimeoutMs);
  if (read.ok) return { data: read.bytes };
  if (read.problem === 'too_large') return tooLarge;
  if (read.problem === 'too_slow') return { reply: errorReply(408, 'request_timeout', CLOSE) };
  return read.problem === 'malformed'
    ? { malformed: true }
    : { reply: errorReply(400, 'request_aborted', CLOSE) };
}

function consumedError(): ConfigurationError {
  return new ConfigurationError(
    'body',
    'The callback cannot be verified: something read the request body before and left nothing of it. Mount ' +
      'paymentCallbacks() before whatever reads the body, or put a JSON body parser in its place.',
  );
}

function valuesByName(headers: IncomingCallback['headers']): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const earlier = values.get(key);
    if (earlier === undefined) values.set(key, [value]);
    else earlier.push(value);
  }
  return values;
}

/** The specification does not show the content type of callbacks, so a missing one is read as JSON. */
function isJson(values: readonly string[] | undefined): boolean {
  if (values === undefined) return true;
  const [type = '', ...parameters] = (values[0] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charsets = parameters.filter((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charsets.every((charset) => /^charset="?utf-?8"?$/.test(charset));
  return values.length === 1 && /^application\/([^/\s]+\+)?json$/.test(type) && isUtf8;
}

function contentEncoding(values: readonly string[] | undefined): ContentEncoding | undefined {
  const name = values === undefined ? 'identity' : values.join(',').trim().toLowerCase();
  if (name === 'identity' || name === 'gzip' || name === 'deflate') return name;
  return name === 'x-gzip' ? 'gzip' : undefined;
}
