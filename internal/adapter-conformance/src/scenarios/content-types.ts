import { accepted, refused } from '../expectations.ts';
import { callbackRequest, headed } from '../http-request.ts';
import { type CallbackScenario, expecting, HANDLER } from '../scenario.ts';

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

const typed = (type: string | readonly string[] | undefined): Buffer => headed({ 'content-type': type });

export const contentTypes: readonly CallbackScenario[] = [
  ...expecting(accepted(), {
    'a callback without a content type verifies': typed(undefined),
    'a callback with a repeated content-type header verifies': typed([
      'application/json',
      'application/json',
    ]),
  }),
  ...TYPES.map((type) => ({
    name: `a callback with the content type ${type} verifies`,
    play: typed(type),
    expect: accepted(),
  })),
  ...['', 'json', 'application/json, application/json'].map((type) => ({
    name: `a callback with the content type "${type}", which is no media type, verifies`,
    // Where routes are the app's own, a framework may refuse such a value itself, before any adapter.
    modes: HANDLER,
    play: typed(type),
    expect: accepted(),
  })),
  ...expecting(refused('body_malformed'), {
    'the bytes are read as UTF-8 under every charset that the content type names': callbackRequest({
      body: Buffer.from('\ufeff{}', 'utf16le'),
      headers: { 'content-type': 'application/json; charset=utf-16' },
    }),
  }),
];
