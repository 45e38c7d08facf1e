import { answered } from '../expectations.ts';
import { callbackRequest } from '../http-request.ts';
import { ANSWERS } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

export const methods: readonly CallbackScenario[] = [
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => ({
    name: `${method} is refused, and POST is named`,
    play: callbackRequest({ method }),
    expect: answered(ANSWERS.methodNotAllowed),
  })),
  {
    name: 'HEAD is refused, without a body',
    play: callbackRequest({ method: 'HEAD', body: '', headers: { 'content-length': undefined } }),
    expect: answered({ status: 405, body: '', allow: 'POST' }),
  },
  {
    name: 'a method without content type and signature is refused all the same',
    play: callbackRequest({
      method: 'PUT',
      headers: { 'content-type': undefined, 'hmac-signature': undefined },
    }),
    expect: answered(ANSWERS.methodNotAllowed),
  },
  {
    name: 'an overriding header does not make a PUT a POST',
    play: callbackRequest({ method: 'PUT', headers: { 'x-http-method-override': 'POST' } }),
    expect: answered(ANSWERS.methodNotAllowed),
  },
];
