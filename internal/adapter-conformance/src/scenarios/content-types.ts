import type { Mode } from '../application.ts';
import { accepted, refused } from '../expectations.ts';
import { callbackRequest } from '../http-request.ts';
import type { CallbackScenario } from '../scenario.ts';

// The protocol shows no content type of a callback (protocol §5.2): none is refused, and JSON decides.
const TYPES = [
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'Application/JSON',
  'application/vnd.payment+json',
  'application/json; charset=utf-16',
  'application/json; charset=iso-8859-1',
  'application/x-www-form-urlencoded',
  'application/octet-stream',
  'multipart/form-data; boundary=x',
  'text/plain',
];

const NO_MEDIA_TYPES = ['', 'json', 'application/json, application/json'];

export const contentTypes: readonly CallbackScenario[] = [
  {
    name: 'a callback without a content type verifies',
    play: callbackRequest({ headers: { 'content-type': undefined } }),
    expect: accepted(),
  },
  ...TYPES.map((type) => ({
    name: `a callback with the content type ${type} verifies`,
    play: callbackRequest({ headers: { 'content-type': type } }),
    expect: accepted(),
  })),
  ...NO_MEDIA_TYPES.map((type) => ({
    name: `a callback with the content type "${type}", which is no media type, verifies`,
    // Where routes are the app's own, a framework may refuse such a value itself, before any adapter.
    modes: ['handler'] as readonly Mode[],
    play: callbackRequest({ headers: { 'content-type': type } }),
    expect: accepted(),
  })),
  {
    name: 'a callback with a repeated content-type header verifies',
    play: callbackRequest({ headers: { 'content-type': ['application/json', 'application/json'] } }),
    expect: accepted(),
  },
  {
    name: 'the bytes are read as UTF-8 under every charset that the content type names',
    play: callbackRequest({
      body: Buffer.from('\ufeff{}', 'utf16le'),
      headers: { 'content-type': 'application/json; charset=utf-16' },
    }),
    expect: refused('body_malformed'),
  },
];
