import { redirectQuery, redirectRequest } from '../http-request.ts';
import { type AnswerRecord, type Outcome, PRIVATE, page, redirected, refused } from '../outcome.ts';
import { handling, type RedirectScenarios } from '../scenario.ts';

const flat = redirectQuery();
const genuine = redirectRequest(flat);
const forged = redirectRequest(flat.replace('COMPLETED', 'FAILED'));
const withOtherAddresses = redirectRequest(
  `${flat.replace(/status_message=[^&]*/, 'status_message=https%3A%2F%2Fevil.example')}` +
    '&location=https://evil.example&url=//evil.example&next=//evil.example&redirect_uri=https://evil.example',
  'GET',
  { host: 'evil.example', referer: 'https://evil.example/', 'x-forwarded-host': 'evil.example' },
);

const seeOther = (location: string): AnswerRecord => ({ status: 303, body: '', location, ...PRIVATE });
const sentTo = (location: string): Partial<Outcome> => ({
  answers: [seeOther(location)],
  handled: ['ORD-1001'],
});

/** The error reaches `onError`, and the customer sees a page, or `refusedLocation`. */
function failed(error: unknown, answer: AnswerRecord): Partial<Outcome> {
  return { answers: [answer], errors: [error], handled: ['ORD-1001'] };
}

const CHECKING = page(429, { 'retry-after': '30' });
const rejects = () => Promise.reject(new Error('No such order.'));

const { type: _, ...head } = page(405, { allow: 'GET' });

const NOT_AN_ADDRESS =
  'ConfigurationError: onRedirect must return the address to send the browser to: a URL, or a percent-encoded string ' +
  'such as "/thanks".';

export const locations: RedirectScenarios = {
  'the browser is sent to the address that onRedirect returns': [
    genuine,
    sentTo('/orders/ORD-1001'),
    handling(({ signed }) => `/orders/${signed.merchant_reference}`),
  ],
  'a customer whose onRedirect rejects sees a page with the status that failureStatus names': [
    genuine,
    failed('Error: No such order.', { ...CHECKING, status: 503 }),
    { ...handling(rejects), options: { failureStatus: 503 } },
  ],
  'a customer whose onRedirect rejects is sent to refusedLocation': [
    genuine,
    failed('Error: No such order.', seeOther('/orders/checking')),
    { ...handling(rejects), options: { refusedLocation: '/orders/checking' } },
  ],
  'a customer whose onRedirect returns nothing sees a page': [
    genuine,
    failed(NOT_AN_ADDRESS, CHECKING),
    handling(() => undefined),
  ],
  ...Object.fromEntries(
    ['/thanks\r\nset-cookie: a=b', '/zoë'].map((location) => [
      `the address ${JSON.stringify(location)} is an error, never a header`,
      [genuine, failed(NOT_AN_ADDRESS, CHECKING), handling(() => location)],
    ]),
  ),
  'threat A25: nothing in the query, the headers or an unsigned field changes the address': [
    withOtherAddresses,
    redirected(),
  ],
  'a refused browser is sent to refusedLocation': [
    forged,
    refused('mismatch', seeOther('/payment-problem')),
    { options: { refusedLocation: '/payment-problem' } },
  ],
  'POST is refused, and the answer names GET': [
    redirectRequest(flat, 'POST'),
    refused('method_not_allowed', page(405, { allow: 'GET' })),
  ],
  'HEAD is refused without a body, so that a link scanner triggers nothing': [
    redirectRequest(flat, 'HEAD'),
    refused('method_not_allowed', { ...head, body: '' }),
  ],
};
