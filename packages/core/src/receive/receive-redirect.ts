import { ConfigurationError } from '../errors.ts';
import type { VerifiedRedirect } from '../verify/verified.ts';
import type { RedirectReceiver } from './receiver.ts';
import { errorReply, type Reply } from './reply.ts';

/** A redirect request in the terms that every framework shares. */
export interface IncomingRedirect {
  readonly method: string;
  /** The request target or the absolute URL, as it came: undecoded, its query included. */
  readonly url: string;
}

/** The answer, and the redirect when it verified and the handler, if there is one, resolved. */
export interface ReceivedRedirect extends Reply {
  readonly redirect?: VerifiedRedirect;
}

// The address that the customer came with holds the signature: it must reach no other site and no cache (threat A23).
const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

/**
 * The seam for redirects: decides the status and the headers of the answer to the customer's browser. 303 to the
 * clean address from `onRedirect`; refused: 303 to `refusedLocation`, or the constant 401. Never rejects.
 *
 * @example
 * const { status, headers } = await receiveRedirect({ method: 'GET', url: request.url }, receiver);
 */
export async function receiveRedirect(
  request: IncomingRedirect,
  receiver: RedirectReceiver,
): Promise<ReceivedRedirect> {
  const { onRedirect, refusedLocation, reportError, reportRefusal, verifier, failureStatus } = receiver;
  if (request.method !== 'GET') return errorReply(405, 'method_not_allowed', { allow: 'GET', ...PRIVATE });
  const mark = request.url.indexOf('?');
  const result = verifier.verifyRedirect(mark === -1 ? '' : request.url.slice(mark));
  if (!result.ok) {
    reportRefusal(result);
    return refusedLocation === undefined
      ? errorReply(401, 'unauthorized', PRIVATE)
      : seeOther(refusedLocation);
  }
  if (onRedirect === undefined) return { status: 200, headers: PRIVATE, body: '', redirect: result };
  try {
    return { ...seeOther(locationText(await onRedirect(result))), redirect: result };
  } catch (error) {
    reportError(error);
    return errorReply(failureStatus, 'handler_failed', PRIVATE);
  }
}

function seeOther(location: string): Reply {
  return { status: 303, headers: { location, ...PRIVATE }, body: '' };
}

function locationText(location: unknown): string {
  const text = location instanceof URL ? location.href : location;
  // Header injection is the framework's to refuse, but each does it in its own way; here it is one.
  if (typeof text !== 'string' || text === '' || /[^\x21-\x7e]/.test(text)) {
    throw new ConfigurationError(
      'onRedirect',
      'onRedirect must answer with the address to send the browser to: a URL, or a text such as "/thanks", percent-encoded.',
    );
  }
  return text;
}
