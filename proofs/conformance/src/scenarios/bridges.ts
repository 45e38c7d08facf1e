import { callbackRequest, signature } from '../http-request.ts';
import { ACCEPTED, refused } from '../outcome.ts';
import type { CallbackScenarios } from '../scenario.ts';

const genuine = signature();
const MALFORMED = refused('signature_malformed');

type Headers = Readonly<Record<string, string | string[]>>;

/** A request as passed on by a bridge such as serverless-http: `headers` is filled, `rawHeaders` is empty. */
function bridged(headers: Headers = {}): NonNullable<CallbackScenarios[string][2]> {
  return {
    bridge: (request) => {
      const filled = { ...request.headers, ...headers };
      request.rawHeaders = [];
      Object.defineProperty(request, 'headers', { value: filled });
    },
  };
}

/** Threat A38: for adapters that read a node:http request. */
export const bridges: CallbackScenarios = {
  'threat A38: a callback from a bridge without rawHeaders verifies': [
    callbackRequest(),
    ACCEPTED,
    bridged(),
  ],
  'threat A38: a signature that a bridge has joined is refused': [
    callbackRequest(),
    MALFORMED,
    bridged({ 'hmac-signature': `${genuine}, ${genuine}` }),
  ],
  'threat A38: a repeated signature in a list is refused': [
    callbackRequest(),
    MALFORMED,
    bridged({ 'hmac-signature': [genuine, genuine] }),
  ],
};
