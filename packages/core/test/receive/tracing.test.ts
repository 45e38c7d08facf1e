import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import {
  createCallbackReceiver,
  type DeliveryTrace,
  type IncomingCallback,
  type Reply,
  receiveCallback,
} from '../../src/receive/index.ts';
import { traceparentOf } from '../../src/reporting/trace-channel.ts';
import { parsed, post, received, redirected } from '../incoming.ts';
import { callbackData, OTHER_KEY, SIGNING_KEY } from '../signed-callbacks.ts';
import { uncaughtExceptions } from '../uncaught.ts';

const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const SPAN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const CALLBACKS = 'payment-service:callback';

function on(what: string, event: (typeof EVENTS)[number], listen: (message: object) => void): void {
  const one = channel(`tracing:${what}:${event}`);
  one.subscribe(listen as () => void);
  onTestFinished(() => void one.unsubscribe(listen as () => void));
}

/** What a channel publishes during a test: the name of each event, with a copy of its message. */
function published(what: string): [event: string, message: Partial<DeliveryTrace>][] {
  const seen: [string, Partial<DeliveryTrace>][] = [];
  for (const event of EVENTS) on(what, event, (message) => seen.push([event, { ...message }]));
  return seen;
}

const endsOf = (seen: readonly [event: string, message: object][]): object[] =>
  seen.filter(([event]) => event === 'asyncEnd').map(([, message]) => message);

const body = parsed(callbackData());
const request = (headers = {}): IncomingCallback => post(body, headers);
const forged = post(parsed(callbackData({ internal_reference: 'INT-78' })));
const done = () => undefined;
const throwing = (): never => {
  throw new Error('no ledger');
};
const receiver = (onCallback?: () => unknown, onRefused?: () => void) =>
  createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback, onRefused, onError: () => undefined });

test('an accepted callback publishes its outcome, and the identity of its transition', async () => {
  const seen = published(CALLBACKS);
  await receiveCallback(request({ traceparent: PARENT }), receiver(done));
  expect(seen.map(([event]) => event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
  expect(seen[0]?.[1]).toEqual({ outcome: 'failed' });
  expect(seen.at(-1)?.[1]).toEqual({
    ...{ outcome: 'accepted', status: 200, isCompleted: true, isFailed: false },
    transitionId: expect.stringMatching(/^[\da-f]{64}$/),
    traceparent: PARENT,
    durationMs: expect.any(Number),
  });
});

const failed = { outcome: 'failed', status: 429, isFailed: true };
const refused = (refusal: string, status: number) => ({ outcome: 'refused', refusal, status });
test.each<[what: string, seen: object, request: IncomingCallback, onCallback?: () => unknown]>([
  ['refused by its method', refused('method_not_allowed', 405), post(body, {}, 'GET'), done],
  ['that is forged', refused('mismatch', 401), forged, done],
  ['that is passed through', { outcome: 'passed', isCompleted: true }, request()],
  ['of a handler that fails', failed, request(), throwing],
  ['of a body that is gone', failed, post({ state: 'consumed' }), throwing],
])('a callback %s is published as that', async (_what, expected, given, onCallback) => {
  const seen = published(CALLBACKS);
  await receiveCallback(given, receiver(onCallback));
  expect(seen.at(-1)?.[1]).toMatchObject(expected);
  expect(seen.some(([event]) => event === 'error')).toBe(Object.hasOwn(expected, 'isFailed'));
  expect(seen.flatMap(([, message]) => Object.values(message))).not.toContainEqual(expect.any(Object));
});

test('evidence that is kept is published as accepted, with the refusal; without a handler as refused', async () => {
  const seen = published(CALLBACKS);
  for (const onAuthenticRefusal of [done, undefined])
    await received(request(), { toleranceSeconds: 30, onCallback: done, onAuthenticRefusal });
  const late = refused('timestamp_out_of_tolerance', 401);
  expect(endsOf(seen)).toMatchObject([{ ...late, outcome: 'accepted', status: 200 }, late]);
});

test('a redirect publishes its outcome', async () => {
  const seen = published('payment-service:redirect');
  const options = { onRedirect: () => '/thanks', refusedLocation: '/failed' };
  for (const signingKey of [SIGNING_KEY, OTHER_KEY]) await redirected({ ...options, signingKey });
  const failing = { onRedirect: () => Promise.reject(new Error('down')), onError: () => undefined };
  await redirected({ ...options, ...failing });
  expect(endsOf(seen)).toMatchObject([
    { outcome: 'accepted', status: 303, isCompleted: true },
    { outcome: 'refused', status: 303, refusal: 'mismatch' },
    { outcome: 'failed', status: 303, isFailed: true },
  ]);
});

async function keptOf(traceparent: string | string[], signingKey = SIGNING_KEY): Promise<string | undefined> {
  let kept: string | undefined;
  const keep = (given: object): void => {
    kept = traceparentOf(given);
  };
  await received(request({ traceparent }), { signingKey, onCallback: keep, onRefused: keep });
  return kept;
}

test('a traceparent is read and kept only while there is a subscriber, and none if there was none', async () => {
  const names: string[] = [];
  const given = request({ traceparent: PARENT });
  const header: IncomingCallback['header'] = (name) => {
    names.push(name);
    return given.header(name);
  };
  await receiveCallback({ ...given, header }, receiver(done));
  expect(names).toContain('hmac-signature');
  expect(names).not.toContain('traceparent');
  expect(await keptOf(PARENT)).toBeUndefined();
  published(CALLBACKS);
  expect(await keptOf(PARENT)).toBe(PARENT);
  await received(request(), { onCallback: (given) => expect(traceparentOf(given)).toBeUndefined() });
});

test.each([
  ['a trace id of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
  ['a span id of zeros', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
  ['upper case', PARENT.toUpperCase()],
  ['another version', PARENT.replace(/^00/, 'ff')],
  ['more than the version has', `${PARENT}-00`],
  ['two of them', [PARENT, PARENT]],
  ['a line break behind it', `${PARENT}\n`],
  ['a text', 'Grace Nakato'],
])('a traceparent is dropped when it is %s', async (_what, traceparent) => {
  published(CALLBACKS);
  expect(await keptOf(traceparent)).toBeUndefined();
});

test('threat A58: no traceparent is read from a request whose signature does not match', async () => {
  const seen = published(CALLBACKS);
  expect(await keptOf(PARENT, OTHER_KEY)).toBeUndefined();
  expect(JSON.stringify(seen)).not.toContain(PARENT);
});

test.each([
  [SPAN, SPAN],
  ['none', PARENT],
  [[SPAN], PARENT],
])(
  'of the span %j that a subscriber made, or the request, the traceparent %s is kept',
  async (span, kept) => {
    on(CALLBACKS, 'start', (message) => Object.assign(message, { span }));
    expect(await keptOf(PARENT)).toBe(kept);
  },
);

/** Every response, and how often the handler and onRefused ran. */
async function answers(): Promise<{ replies: (Reply | undefined)[]; runs: number }> {
  let runs = 0;
  const count = (): void => {
    runs += 1;
  };
  const counting = receiver(count, count);
  const failing = receiver(() => Promise.reject(new Error('no ledger')));
  const all = await Promise.all([
    ...[request(), forged].map((each) => receiveCallback(each, counting)),
    ...[failing, receiver()].map((one) => receiveCallback(request(), one)),
  ]);
  return { replies: all.map(({ reply }) => reply), runs };
}

const get = (): never => {
  throw new Error('subscriber');
};
const bind = (transform: () => object) => {
  const store = new AsyncLocalStorage<object>();
  const { start } = tracingChannel(CALLBACKS);
  start.bindStore(store, transform);
  onTestFinished(() => void start.unbindStore(store));
};
/** For each message that no subscriber has changed yet. */
const change = (how: (message: object) => unknown) => {
  for (const event of EVENTS)
    on(CALLBACKS, event, (message) => {
      if (!Object.isFrozen(message) && !Object.hasOwn(message, 'span')) how(message);
    });
};
const empty = (message: object): void => {
  for (const name of Object.keys(message)) Reflect.deleteProperty(message, name);
  Object.freeze(message);
};
const unreadable = (message: object) => Object.defineProperty(message, 'span', { get, enumerable: true });
test.each<[what: string, subscribe: () => void, isThrown: boolean]>([
  ...EVENTS.map((event): [string, () => void, boolean] => [
    ...([`a subscriber that throws in ${event}`, () => on(CALLBACKS, event, get), true] as const),
  ]),
  ['a subscriber that makes the message unreadable', () => change(unreadable), false],
  ['a subscriber that empties and freezes the message', () => change(empty), false],
  ['a store that throws in its transform', () => bind(get), true],
])('threat A58: %s changes no result', async (_what, subscribe, isThrown) => {
  const without = await answers();
  const errors = uncaughtExceptions();
  subscribe();
  expect(await answers()).toEqual(without);
  await new Promise(setImmediate);
  if (isThrown) expect(errors.length).toBeGreaterThan(0);
});
