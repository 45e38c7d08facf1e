import type { IncomingMessage } from 'node:http';
import { sampleCallback } from '@payment-service/core/testing';
import { accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest, signature } from '../http-request.ts';
import type { CallbackScenario } from '../scenario.ts';

const text = JSON.stringify(sampleCallback());
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

const REPEATED: Readonly<Record<string, string | string[]>> = {
  'a signature that a bridge has joined': `${genuine}, ${genuine}`,
  'a signature that a bridge has joined with a comma': `${genuine},${genuine}`,
  'a repeated signature in a list': [genuine, genuine],
  'a repeated signature in a list whose first value is genuine': [genuine, 't=1,s=0'],
  'a repeated signature in a list whose last value is genuine': ['t=1,s=0', genuine],
};

/** Threat A38: for adapters that read a node:http request. */
export const bridges: readonly CallbackScenario[] = [
  {
    name: 'threat A38: a callback from a bridge without rawHeaders verifies',
    bridge: bridged(),
    play: callbackRequest(),
    expect: accepted(),
  },
  {
    name: 'threat A38: a chunked callback from a bridge without rawHeaders verifies',
    bridge: bridged(),
    play: chunkedCallbackRequest([text.slice(0, 40), text.slice(40)]),
    expect: accepted(),
  },
  ...Object.entries(REPEATED).map(([name, value]) => ({
    name: `threat A38: ${name} is refused`,
    bridge: bridged({ 'hmac-signature': value }),
    play: callbackRequest(),
    expect: refused('signature_malformed'),
  })),
  {
    name: 'threat A38: a forged callback from a bridge without rawHeaders is refused',
    bridge: bridged(),
    play: callbackRequest({ body: text.replace('COMPLETED', 'FAILED') }),
    expect: refused('mismatch'),
  },
];
