import { expect } from 'vitest';
import { redirected, refused } from '../expectations.ts';
import { redirectQuery, redirectRequest } from '../http-request.ts';
import { ANSWERS, type AnswerRecord, type Outcome, PRIVATE } from '../outcome.ts';
import { expecting, handlersOf, type RedirectScenario } from '../scenario.ts';

const flat = redirectQuery();
const genuine = redirectRequest(flat);
const forged = redirectRequest(flat.replace('COMPLETED', 'FAILED'));

const seeOther = (location: string): AnswerRecord => ({ status: 303, body: '', location, ...PRIVATE });

function failed(error: unknown, answer = ANSWERS.handlerFailed, status = 429): Partial<Outcome> {
  return { answers: [{ ...answer, ...PRIVATE, status }], errors: [error], handled: ['ORD-1001'] };
}

const NOT_AN_ADDRESS =
  'ConfigurationError: onRedirect must return the address to send the browser to: a URL, or a percent-encoded string ' +
  'such as "/thanks".';

const handling = handlersOf<RedirectScenario>(genuine);

export const locations: readonly RedirectScenario[] = [
  ...handling(
    { answers: [seeOther('/orders/ORD-1001')], handled: ['ORD-1001'] },
    {
      'the browser is sent to the address that onRedirect returns': (redirect) =>
        `/orders/${redirect.signed.merchant_reference}`,
    },
  ),
  ...handling(
    { answers: [seeOther('https://shop.example/thanks?order=1')], handled: ['ORD-1001'] },
    {
      'onRedirect may return a promise of a URL': async () => new URL('https://shop.example/thanks?order=1'),
    },
  ),
  ...handling(
    failed('Error: No such order.', ANSWERS.handlerFailed, 503),
    {
      'an onRedirect that rejects is answered with the status that failureStatus names': () =>
        Promise.reject(new Error('No such order.')),
    },
    { failureStatus: 503 },
  ),
  ...handling(
    failed(
      expect.stringMatching(/^TimeoutError: The handler did not settle within handlerTimeoutMs/),
      ANSWERS.handlerTimeout,
    ),
    {
      'an onRedirect that does not settle within handlerTimeoutMs is answered with failureStatus': () =>
        new Promise(() => undefined),
    },
    { handlerTimeoutMs: 50 },
  ),
  ...['/thanks\r\nset-cookie: a=b', '/zoë'].flatMap((location) =>
    handling(failed(NOT_AN_ADDRESS), {
      [`the address ${JSON.stringify(location)} is an error, never a header`]: () => location,
    }),
  ),
  ...expecting(redirected(), {
    'threat A25: nothing in the query, the headers or an unsigned field changes the address': redirectRequest(
      `${flat.replace(/status_message=[^&]*/, 'status_message=https%3A%2F%2Fevil.example')}` +
        '&location=https://evil.example&url=//evil.example&next=//evil.example&redirect_uri=https://evil.example',
      'GET',
      { host: 'evil.example', referer: 'https://evil.example/', 'x-forwarded-host': 'evil.example' },
    ),
  }),
  {
    name: 'a refused browser is sent to refusedLocation',
    options: { refusedLocation: '/payment-problem' },
    play: forged,
    expect: refused('mismatch', seeOther('/payment-problem')),
  },
  ...expecting(refused('method_not_allowed', { ...ANSWERS.methodNotAllowed, allow: 'GET', ...PRIVATE }), {
    'POST is refused, and the answer names GET': redirectRequest(flat, 'POST'),
  }),
  {
    name: 'HEAD is refused without a body, so that a link scanner triggers nothing',
    play: redirectRequest(flat, 'HEAD'),
    expect: refused('method_not_allowed', { status: 405, body: '', allow: 'GET', ...PRIVATE }),
  },
];
