import { accepted, refused } from '../expectations.ts';
import { callbackRequest, chunkedCallbackRequest } from '../http-request.ts';
import { ANSWERS, closing } from '../outcome.ts';
import { type CallbackScenario, expecting } from '../scenario.ts';

export const methods: readonly CallbackScenario[] = [
  ...expecting(refused('method_not_allowed', ANSWERS.methodNotAllowed), {
    'GET is refused, and the answer names POST': callbackRequest({ method: 'GET' }),
    'PUT is refused, and the answer names POST': callbackRequest({ method: 'PUT' }),
    'PATCH is refused, and the answer names POST': callbackRequest({ method: 'PATCH' }),
    'DELETE is refused, and the answer names POST': callbackRequest({ method: 'DELETE' }),
    'OPTIONS is refused, and the answer names POST': callbackRequest({ method: 'OPTIONS' }),
    'the method is checked before the content type and the signature': callbackRequest({
      method: 'PUT',
      headers: { 'content-type': undefined, 'hmac-signature': undefined },
    }),
    'an overriding header does not turn a PUT into a POST': callbackRequest({
      method: 'PUT',
      headers: { 'x-http-method-override': 'POST' },
    }),
  }),
  ...expecting(refused('method_not_allowed', closing(ANSWERS.methodNotAllowed)), {
    'a PUT with a chunked body is refused, and the connection is closed': chunkedCallbackRequest(['{}'], {
      method: 'PUT',
    }),
  }),
  ...expecting(refused('method_not_allowed', { status: 405, body: '', allow: 'POST' }), {
    'HEAD is refused without a body': callbackRequest({
      method: 'HEAD',
      body: '',
      headers: { 'content-length': undefined },
    }),
  }),
  ...expecting(
    accepted(),
    {
      'decision D48: PUT is accepted where the option methods names it': callbackRequest({ method: 'PUT' }),
      'decision D48: PATCH is accepted where the option methods names it': callbackRequest({
        method: 'PATCH',
      }),
    },
    { options: { methods: ['PUT', 'PATCH'] } },
  ),
  {
    name: 'decision D48: POST is refused where the option methods does not name it, and the answer names those that it has',
    options: { methods: ['PUT', 'PATCH'] },
    play: callbackRequest(),
    expect: refused('method_not_allowed', { ...ANSWERS.methodNotAllowed, allow: 'PUT, PATCH' }),
  },
];
