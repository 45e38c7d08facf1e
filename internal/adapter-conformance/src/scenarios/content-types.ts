import type { Mode } from '../application.ts';
import { accepted, answered } from '../expectations.ts';
import { callbackRequest } from '../http-request.ts';
import { ANSWERS } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';

const READ = [
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'Application/JSON',
  'application/vnd.payment+json',
];

const REFUSED = [
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  'application/jsonp',
  'application/json; charset=utf-16',
  'application/json; charset=iso-8859-1',
];

export const contentTypes: readonly CallbackScenario[] = [
  {
    name: 'a missing content type is read as JSON, since the specification shows none',
    play: callbackRequest({ headers: { 'content-type': undefined } }),
    expect: accepted(),
  },
  ...READ.map((type) => ({
    name: `${type} is read`,
    play: callbackRequest({ headers: { 'content-type': type } }),
    expect: accepted(),
  })),
  ...REFUSED.map((type) => ({
    name: `${type} is refused`,
    play: callbackRequest({ headers: { 'content-type': type } }),
    expect: answered(ANSWERS.unsupportedMediaType),
  })),
  ...['', 'json', 'application/json, application/json'].map((type) => ({
    name: `"${type}", which is no media type, is refused`,
    // Where routes are the app's own, a framework may refuse such a value itself, before any adapter.
    modes: ['handler'] as readonly Mode[],
    play: callbackRequest({ headers: { 'content-type': type } }),
    expect: answered(ANSWERS.unsupportedMediaType),
  })),
  {
    name: 'a repeated content-type header is refused',
    play: callbackRequest({ headers: { 'content-type': ['application/json', 'application/json'] } }),
    expect: answered(ANSWERS.unsupportedMediaType),
  },
];
