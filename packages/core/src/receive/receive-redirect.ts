import { ConfigurationError } from '../errors.ts';
import { checkArgument, type OptionRule } from '../options/options.ts';
import type { VerifiedRedirect } from '../verify/verified.ts';
import { type Delivered, REDIRECTS, traceDelivery } from './delivery-trace.ts';
import {
  failureReply,
  isLocation,
  type RedirectReceiver,
  type Reply,
  refuseRequest,
  settled,
} from './receiver.ts';

/** A redirect request, in the terms that every framework shares. */
export interface IncomingRedirect {
  readonly method: string;
  /** The request target or the absolute URL, undecoded, including the query. */
  readonly url: string;
}

/** Core's answer, or, without `onRedirect`, a verified redirect for the adapter to pass through. */
export type ReceivedRedirect =
  | { readonly reply: Reply; readonly redirect?: never }
  | {
      readonly reply: undefined;
      readonly redirect: VerifiedRedirect;
      /** To set on the page that the merchant sends. */
      readonly headers: Reply['headers'];
    };

// The redirect's address contains the signature, so it must not reach another site or a cache (threat A23).
const PRIVATE: Reply['headers'] = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

/** Constant: it reveals nothing about the request, the error or the reason (threats A22 and A25). */
const PAGE =
  '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">' +
  '<title>Payment</title><p>Your payment is being checked.</p></html>';

/** Unlike that of a callback: a redirect is not retried. */
const TIMEOUT =
  'onRedirect did not settle within handlerTimeoutMs, so the customer was sent to refusedLocation, or was shown that the payment is ' +
  'being checked. onRedirect is still running: return the address first, and do slow work later.';

/**
 * Receives a redirect, and decides the status and the headers of the answer to the customer's browser. Accepted: 303 to the clean
 * address from `onRedirect`. Refused, or if `onRedirect` fails: 303 to `refusedLocation`, or a page that says that the payment
 * is being checked, with 401 or `failureStatus` (decision D89). Never rejects.
 *
 * @throws {ConfigurationError} When `request` is not a method and a URL, or `receiver` is not a redirect receiver.
 *
 * @example
 * const { reply } = await receiveRedirect({ method: 'GET', url: request.url }, receiver);
 */
export function receiveRedirect(
  request: IncomingRedirect,
  receiver: RedirectReceiver,
): Promise<ReceivedRedirect> {
  checkArgument('receiveRedirect()', 'request', request, REQUEST);
  checkArgument('receiveRedirect()', 'receiver', receiver, RECEIVER);
  return answerRedirect(request, receiver);
}

/** The same for an adapter, which creates both arguments itself. */
export function answerRedirect(
  request: IncomingRedirect,
  receiver: RedirectReceiver,
): Promise<ReceivedRedirect> {
  return traceDelivery(REDIRECTS, () => receive(request, receiver));
}

const REQUEST: OptionRule = [
  (request) => typeof Object(request).method === 'string' && typeof Object(request).url === 'string',
  '{ method, url }',
];
const RECEIVER: OptionRule = [
  (receiver) => typeof Object(receiver).verifyRedirect === 'function',
  'the result of createRedirectReceiver()',
];

async function receive(
  request: IncomingRedirect,
  receiver: RedirectReceiver,
): Promise<Delivered<ReceivedRedirect>> {
  const { onRedirect, refusedLocation, verifyRedirect } = receiver;
  if (request.method !== 'GET') {
    receiver.reportRefusal(refuseRequest('method_not_allowed'));
    const received = { reply: page(405, { allow: 'GET' }) };
    return { received, outcome: 'refused', refusal: 'method_not_allowed' };
  }
  const mark = request.url.indexOf('?');
  const result = verifyRedirect(mark === -1 ? '' : request.url.slice(mark));
  if (!result.ok) {
    receiver.reportRefusal(result);
    return {
      received: { reply: unconfirmed(refusedLocation, 401) },
      outcome: 'refused',
      refusal: result.code,
    };
  }
  if (onRedirect === undefined) {
    const received = { reply: undefined, redirect: result, headers: PRIVATE };
    return { received, outcome: 'passed', given: result };
  }
  try {
    const reply = seeOther(address(await settled(onRedirect(result), receiver, TIMEOUT)));
    return { received: { reply }, outcome: 'accepted', given: result };
  } catch (error) {
    const { status, headers } = failureReply(error, receiver);
    const reply = unconfirmed(refusedLocation, status, headers);
    return { received: { reply }, outcome: 'failed', given: result };
  }
}

function unconfirmed(location: string | undefined, status: number, headers?: Reply['headers']): Reply {
  return location === undefined ? page(status, headers) : seeOther(location);
}

/** A customer who has just paid reads this, so it is never JSON and never says that the payment failed. */
function page(status: number, headers?: Reply['headers']): Reply {
  const own = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
  };
  return { status, headers: { ...headers, ...own, ...PRIVATE }, body: PAGE };
}

function seeOther(location: string): Reply {
  return { status: 303, headers: { location, ...PRIVATE }, body: '' };
}

function address(location: unknown): string {
  const text = location instanceof URL ? location.href : location;
  if (isLocation(text)) return text;
  throw new ConfigurationError(
    'onRedirect',
    'onRedirect must return the address to send the browser to: a URL, or a percent-encoded string such as "/thanks".',
  );
}
