import { expect } from 'vitest';
import type { Mode } from '../application.ts';
import { redirected, refused, turnedAway } from '../expectations.ts';
import { redirectQuery, redirectRequest } from '../http-request.ts';
import { ANSWERS, type AnswerRecord, type Outcome, PRIVATE } from '../outcome.ts';
import type { RedirectScenario } from '../scenario.ts';

const HANDLER: readonly Mode[] = ['handler'];
const flat = redirectQuery();
const forged = flat.replace('COMPLETED', 'FAILED');

const seeOther = (location: string): AnswerRecord => ({ status: 303, body: '', location, ...PRIVATE });

function failed(error: string, status = 429): Partial<Outcome> {
  return {
    answers: [{ ...ANSWERS.handlerFailed, ...PRIVATE, status }],
    errors: [error],
    handled: ['ORD-1001'],
  };
}

const NOT_AN_ADDRESS =
  'ConfigurationError: onRedirect must return the address to send the browser to: a URL, or a percent-encoded string ' +
  'such as "/thanks".';

export const locations: readonly RedirectScenario[] = [
  {
    name: 'the browser is sent to the address that onRedirect returns',
    modes: HANDLER,
    handle: (redirect) => `/orders/${redirect.signed.merchant_reference}`,
    play: redirectRequest(flat),
    expect: { answers: [seeOther('/orders/ORD-1001')], handled: ['ORD-1001'] },
  },
  {
    name: 'onRedirect may return a promise of a URL',
    modes: HANDLER,
    handle: async () => new URL('https://shop.example/thanks?order=1'),
    play: redirectRequest(flat),
    expect: { answers: [seeOther('https://shop.example/thanks?order=1')], handled: ['ORD-1001'] },
  },
  {
    name: 'threat A25: nothing in the query, the headers or an unsigned field changes the address',
    play: redirectRequest(
      `${flat.replace(/status_message=[^&]*/, 'status_message=https%3A%2F%2Fevil.example')}` +
        '&location=https://evil.example&url=//evil.example&next=//evil.example&redirect_uri=https://evil.example',
      'GET',
      { host: 'evil.example', referer: 'https://evil.example/', 'x-forwarded-host': 'evil.example' },
    ),
    expect: redirected(),
  },
  {
    name: 'a refused browser is sent to refusedLocation',
    options: { refusedLocation: '/payment-problem' },
    play: redirectRequest(forged),
    expect: { answers: [seeOther('/payment-problem')], refusals: ['mismatch'] },
  },
  {
    name: 'onRedirect is not called for a refused browser',
    handle: () => 'https://evil.example',
    play: redirectRequest(forged),
    expect: turnedAway('mismatch'),
  },
  {
    name: 'an onRedirect that throws is answered with failureStatus, and the error reaches onError only',
    modes: HANDLER,
    handle: () => {
      throw new Error('No such order.');
    },
    play: redirectRequest(flat),
    expect: failed('Error: No such order.'),
  },
  {
    name: 'an onRedirect that rejects is answered with the status that failureStatus names',
    modes: HANDLER,
    options: { failureStatus: 503 },
    handle: () => Promise.reject(new Error('No such order.')),
    play: redirectRequest(flat),
    expect: failed('Error: No such order.', 503),
  },
  {
    name: 'an onRedirect that does not settle within handlerTimeoutMs is answered with failureStatus',
    modes: HANDLER,
    options: { handlerTimeoutMs: 50 },
    handle: () => new Promise(() => undefined),
    play: redirectRequest(flat),
    expect: {
      answers: [{ ...ANSWERS.handlerTimeout, ...PRIVATE }],
      errors: [expect.stringMatching(/^TimeoutError: The handler did not settle within handlerTimeoutMs/)],
      handled: ['ORD-1001'],
    },
  },
  ...['', '/thanks\r\nset-cookie: a=b', '/zoë', '/a b'].map((location) => ({
    name: `the address ${JSON.stringify(location)} is an error, never a header`,
    modes: HANDLER,
    handle: () => location,
    play: redirectRequest(flat),
    expect: failed(NOT_AN_ADDRESS),
  })),
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => ({
    name: `${method} is refused, and the answer names GET`,
    play: redirectRequest(flat, method),
    expect: refused('method_not_allowed', { ...ANSWERS.methodNotAllowed, allow: 'GET', ...PRIVATE }),
  })),
  {
    name: 'HEAD is refused without a body, so that a link scanner triggers nothing',
    play: redirectRequest(flat, 'HEAD'),
    expect: refused('method_not_allowed', { status: 405, body: '', allow: 'GET', ...PRIVATE }),
  },
  {
    name: 'a connection survives a refused redirect',
    play: async (stage) => {
      const client = await stage.connect();
      await stage.ask(redirectRequest(forged), client);
      await stage.ask(redirectRequest(flat), client);
    },
    expect: (mode) => ({
      answers: [...(turnedAway('mismatch').answers ?? []), ...(redirected()(mode).answers ?? [])],
      refusals: ['mismatch'],
      handled: ['ORD-1001'],
    }),
  },
];
