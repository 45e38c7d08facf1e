import { afterEach, expect, test, vi } from 'vitest';
import { explainRefusals } from '../../src/explain/index.ts';
import { createCallbackReceiver, receiveCallback } from '../../src/receive/index.ts';
import { post, unread } from '../incoming.ts';
import { callbackData, HASH_OF_OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';
import { NOW } from '../verify.ts';

// How much work an unauthenticated sender can cause in explain(), while it is enabled.

const FORGED = { 'hmac-signature': `t=${T},s=${HASH_OF_OTHER_KEY}` };
const { event, payload } = callbackData();
const BODY = JSON.stringify({ event, payload });

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

test.each(['development', 'test', '', undefined])('control: it starts with NODE_ENV %j', (environment) => {
  vi.stubEnv('NODE_ENV', environment);
  expect(explainRefusals({ signingKey: SIGNING_KEY })).toBeTypeOf('function');
});

/** Sends forged callbacks at these times, and returns what was printed for each. */
async function flood(times: readonly number[]): Promise<string[][]> {
  let at = 0;
  const printed: string[][] = [];
  const log = (text: string) => void printed.at(-1)?.push(text);
  const onRefused = explainRefusals({ signingKey: SIGNING_KEY, now: () => NOW + at, log });
  const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onRefused, onCallback: () => 1 });
  for (at of times) {
    printed.push([]);
    await receiveCallback(post(unread(BODY), FORGED), receiver);
  }
  return printed;
}

test('threat A45: ten a second are explained, and the rest are counted and reported', async () => {
  const printed = await flood([...Array<number>(47).fill(0), 999, 1000, 1001, 5000]);
  const explained = expect.stringMatching(/^Callback refused \(mismatch\): /);
  const full = 'More than 10 callbacks were refused in one second: the rest are counted, not explained.';
  expect(printed).toEqual([
    ...Array(10).fill([explained]),
    [full],
    ...Array(37).fill([]),
    ['38 more refusals were not explained.', explained],
    ...[[explained], [explained]],
  ]);
});

test('threat A45: ten in every second are all explained, and a clock that steps back stops no explanation', async () => {
  for (const times of [Array.from({ length: 50 }, (_, index) => index * 100), [0, -3_600_000, -3_599_999]])
    for (const lines of await flood(times))
      expect(lines).toEqual([expect.not.stringContaining('not explained')]);
});
