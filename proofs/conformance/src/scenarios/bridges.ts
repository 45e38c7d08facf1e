import type { IncomingMessage } from 'node:http';
import { accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest, signature, TEXT } from '../http-request.ts';
import { type CallbackScenario, expecting } from '../scenario.ts';

const genuine = signature();

/** A request as passed on by a bridge such as serverless-http: `headers` is filled, `rawHeaders` is empty. */
function bridged(
  headers: Readonly<Record<string, string | string[]>> = {},
): (request: IncomingMessage) => void {
  return (request) => {
    const filled = { ...request.headers, ...headers };
    request.rawHeaders = [];
    Object.defineProperty(request, 'headers', { value: filled });
  };
}

/** Threat A38: for adapters that read a node:http request. */
export const bridges: readonly CallbackScenario[] = [
  ...expecting(
    accepted(),
    {
      'threat A38: a callback from a bridge without rawHeaders verifies': callbackRequest(),
      'threat A38: a chunked callback from a bridge without rawHeaders verifies': chunkedCallbackRequest([
        TEXT.slice(0, 40),
        TEXT.slice(40),
      ]),
    },
    { bridge: bridged() },
  ),
  ...Object.entries({
    'a signature that a bridge has joined': `${genuine}, ${genuine}`,
    'a repeated signature in a list': [genuine, genuine],
    'a repeated signature in a list whose first value is genuine': [genuine, 't=1,s=0'],
  }).map(([name, value]) => ({
    name: `threat A38: ${name} is refused`,
    bridge: bridged({ 'hmac-signature': value }),
    play: callbackRequest(),
    expect: refused('signature_malformed'),
  })),
];
