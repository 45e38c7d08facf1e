import { accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest } from '../http-request.ts';
import { ANSWERS, closing } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

export const methods: readonly CallbackScenario[] = [
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => ({
    name: `${method} is refused, and the answer names POST`,
    play: callbackRequest({ method }),
    expect: refused('method_not_allowed', ANSWERS.methodNotAllowed),
  })),
  {
    name: 'a PUT with a chunked body is refused, and the connection is closed',
    play: chunkedCallbackRequest(['{}'], { method: 'PUT' }),
    expect: refused('method_not_allowed', closing(ANSWERS.methodNotAllowed)),
  },
  {
    name: 'HEAD is refused without a body',
    play: callbackRequest({ method: 'HEAD', body: '', headers: { 'content-length': undefined } }),
    expect: refused('method_not_allowed', { status: 405, body: '', allow: 'POST' }),
  },
  ...['PUT', 'PATCH'].map(
    (method): CallbackScenario => ({
      name: `decision D48: ${method} is accepted where the option methods names it`,
      options: { methods: ['PUT', 'PATCH'] },
      play: callbackRequest({ method }),
      expect: accepted(),
    }),
  ),
  {
    name: 'decision D48: POST is refused where the option methods does not name it, and the answer names those that it has',
    options: { methods: ['PUT', 'PATCH'] },
    play: callbackRequest(),
    expect: refused('method_not_allowed', { ...ANSWERS.methodNotAllowed, allow: 'PUT, PATCH' }),
  },
  {
    name: 'the method is checked before the content type and the signature',
    play: callbackRequest({
      method: 'PUT',
      headers: { 'content-type': undefined, 'hmac-signature': undefined },
    }),
    expect: refused('method_not_allowed', ANSWERS.methodNotAllowed),
  },
  {
    name: 'an overriding header does not turn a PUT into a POST',
    play: callbackRequest({ method: 'PUT', headers: { 'x-http-method-override': 'POST' } }),
    expect: refused('method_not_allowed', ANSWERS.methodNotAllowed),
  },
];
