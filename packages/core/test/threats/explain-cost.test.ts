import { afterEach, expect, test, vi } from 'vitest';
import { type ExplainKeys, explain, explainRefusals } from '../../src/explain/index.ts';
import { callbackData, OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';

// How much work an unauthenticated sender can cause in explain(), while it is enabled.

afterEach(() => void vi.unstubAllEnvs());

test.each([...['production', 'Production', 'production ', 'prod', 'staging', 'live', 'Development', 'none']])(
  'threat A45: explainRefusals() does not start with NODE_ENV=%j',
  (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    const refusal = {
      name: 'ConfigurationError',
      message: expect.stringContaining(`NODE_ENV is "${environment}"`),
    };
    expect(() => explainRefusals({ signingKey: SIGNING_KEY })).toThrow(expect.objectContaining(refusal));
  },
);

test.each([undefined, ''])(
  'threat A45: explainRefusals() does not start where NODE_ENV is %j',
  (environment) => {
    vi.stubEnv('NODE_ENV', environment);
    expect(() => explainRefusals({ signingKey: SIGNING_KEY })).toThrow(
      'explainRefusals() is for development, and NODE_ENV is not set. For development, set NODE_ENV=development.',
    );
  },
);

test.each(['development', 'test'])('control: it starts with NODE_ENV %j', (environment) => {
  vi.stubEnv('NODE_ENV', environment);
  expect(explainRefusals({ signingKey: SIGNING_KEY })).toBeTypeOf('function');
});

/** How many digests the explanation of a forgery computes. */
function digests(body: string, others: ExplainKeys['others'] = []): number {
  const given = { headers: { 'hmac-signature': `t=${T},s=${'a'.repeat(64)}` }, body };
  const { detail } = explain(given, { signingKey: SIGNING_KEY, others });
  return Number(/^None of (\d+) computations/.exec(detail)?.[1]);
}

const BODY = JSON.stringify(callbackData());
const members = Array.from({ length: 5000 }, (_, at) => `"n${at}":0,`).join('');
test.each<[what: string, body: string]>([
  ['a long reference', BODY.replace('ORD-1001', 'x'.repeat(60_000))],
  ['many members', BODY.replace('{', `{${members}`)],
  ['deep nesting', BODY.replace('{', `{"x":${'['.repeat(30_000)}${']'.repeat(30_000)},`)],
])('threat A45: a forgery with %s causes as many digests as any other', (_what, body) => {
  const few = digests(BODY);
  expect(few).toBeLessThan(100);
  expect(digests(body)).toBe(few);
});

test('control: every other key causes one more digest', () => {
  expect(digests(BODY, [{ id: 'other', key: OTHER_KEY }])).toBe(digests(BODY) + 1);
});
