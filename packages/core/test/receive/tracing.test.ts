import { AsyncLocalStorage } from 'node:async_hooks';
import { type Channel, channel, tracingChannel } from 'node:diagnostics_channel';
import { expect, onTestFinished, test } from 'vitest';
import {
  createCallbackReceiver,
  type DeliveryTrace,
  type IncomingCallback,
  type Reply,
  receiveCallback,
  traceparentOf,
} from '../../src/receive/index.ts';
import { parsed, post, received, redirected } from '../incoming.ts';
import { callbackData, OTHER_KEY, SIGNING_KEY } from '../signed-callbacks.ts';

const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const SPAN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** What a channel publishes during a test: the name of each event, with a copy of its message. */
function published(what: string): [event: string, message: Partial<DeliveryTrace>][] {
  const seen: [string, Partial<DeliveryTrace>][] = [];
  for (const event of EVENTS) {
    const listen = (message: unknown): number => seen.push([event, { ...(message as DeliveryTrace) }]);
    on(`payment-service:${what}`, event, listen);
  }
  return seen;
}

const endsOf = (seen: readonly [event: string, message: object][]): object[] =>
  seen.filter(([event]) => event === 'asyncEnd').map(([, message]) => message);

function on(what: string, event: (typeof EVENTS)[number], listen: (message: unknown) => void): Channel {
  const one = channel(`tracing:${what}:${event}`);
  one.subscribe(listen);
  onTestFinished(() => void one.unsubscribe(listen));
  return one;
}

const body = parsed(callbackData());
const request = (headers = {}): IncomingCallback => post(body, headers);
const forged = post(parsed(callbackData({ internal_reference: 'INT-78' })));
const receiver = (onCallback?: () => unknown) =>
  createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback, onError: () => undefined });

test('an accepted callback publishes its outcome, and the identity of its transition', async () => {
  const seen = published('callback');
  const accepting = receiver(() => undefined);
  await receiveCallback(request({ traceparent: PARENT }), accepting);
  expect(seen.map(([event]) => event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
  expect(seen[0]?.[1]).toEqual({ outcome: 'failed' });
  expect(seen.at(-1)?.[1]).toEqual({
    outcome: 'accepted',
    status: 200,
    transitionId: expect.stringMatching(/^[\da-f]{64}$/),
    isCompleted: true,
    traceparent: PARENT,
    isFailed: false,
    durationMs: expect.any(Number),
  });
});

const done = () => undefined;
const throwing = (): never => {
  throw new Error('no ledger');
};
const failed = { outcome: 'failed', status: 429, isFailed: true };
const refused = (refusal: string, status: number) => ({ outcome: 'refused', refusal, status });
test.each<[what: string, seen: object, request: IncomingCallback, onCallback: (() => unknown) | undefined]>([
  ['refused by its method', refused('method_not_allowed', 405), post(body, {}, 'GET'), done],
  ['that is forged', refused('mismatch', 401), forged, done],
  ['that is passed through', { outcome: 'passed', isCompleted: true }, request(), undefined],
  ['of a handler that fails', failed, request(), throwing],
  ['of a body that is gone', failed, post({ state: 'consumed' }), throwing],
])('a callback %s is published as that', async (_what, expected, given, onCallback) => {
  const seen = published('callback');
  await receiveCallback(given, receiver(onCallback));
  expect(seen.at(-1)?.[1]).toMatchObject(expected);
  expect(seen.some(([event]) => event === 'error')).toBe(Object.hasOwn(expected, 'isFailed'));
});

test('evidence that is kept is accepted, with the refusal; without a handler it is refused', async () => {
  const seen = published('callback');
  for (const onAuthenticRefusal of [done, undefined]) {
    await received(request(), { toleranceSeconds: 30, onCallback: done, onAuthenticRefusal });
  }
  const late = refused('timestamp_out_of_tolerance', 401);
  expect(endsOf(seen)).toMatchObject([{ ...late, outcome: 'accepted', status: 200 }, late]);
});

test('a redirect publishes its outcome', async () => {
  const seen = published('redirect');
  const options = { onRedirect: () => '/thanks', refusedLocation: '/failed' };
  for (const signingKey of [SIGNING_KEY, OTHER_KEY]) await redirected({ ...options, signingKey });
  expect(endsOf(seen)).toMatchObject([
    { outcome: 'accepted', status: 303, isCompleted: true },
    { outcome: 'refused', status: 303, refusal: 'mismatch' },
  ]);
});

async function keptOf(headers: object, key = SIGNING_KEY): Promise<string | undefined> {
  let kept: string | undefined;
  const keep = (given: object): void => {
    kept = traceparentOf(given);
  };
  await received(request(headers), { signingKey: key, onCallback: keep, onRefused: keep });
  return kept;
}

test('a traceparent is kept, with and without a subscriber', async () => {
  expect(await keptOf({ traceparent: PARENT })).toBe(PARENT);
  published('callback');
  expect(await keptOf({ traceparent: PARENT })).toBe(PARENT);
});

test.each([
  ['nothing', undefined],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
  ['a span id of zeros', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
  ['upper case', PARENT.toUpperCase()],
  ['another version', PARENT.replace(/^00/, 'ff')],
  ['more than the version has', `${PARENT}-00`],
  ['two of them', [PARENT, PARENT]],
  ['a line break behind it', `${PARENT}\n`],
  ['a text', 'Grace Nakato'],
])('a traceparent is dropped when it is %s', async (_what, traceparent) => {
  expect(await keptOf(traceparent === undefined ? {} : { traceparent })).toBeUndefined();
});

test('threat A58: no traceparent is read from a request whose signature does not match', async () => {
  const seen = published('callback');
  expect(await keptOf({ traceparent: PARENT }, OTHER_KEY)).toBeUndefined();
  expect(JSON.stringify(seen)).not.toContain(PARENT);
});

test('the traceparent of a span that a subscriber made is kept in place of that of the request', async () => {
  for (const [span, kept] of [
    [SPAN, SPAN],
    ['none', PARENT],
    [[SPAN], PARENT],
  ] as const) {
    on('payment-service:callback', 'start', (message) => Object.assign(message as object, { span }));
    expect(await keptOf({ traceparent: PARENT })).toBe(kept);
  }
});

const failing = receiver(() => Promise.reject(new Error('no ledger')));

/** Every response, and how often the handler and onRefused ran. */
async function answers(): Promise<{ replies: (Reply | undefined)[]; runs: number }> {
  let runs = 0;
  const count = (): void => {
    runs += 1;
  };
  const counting = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: count, onRefused: count });
  const given: [IncomingCallback, typeof counting][] = [
    [request(), counting],
    [forged, counting],
    [request(), failing],
    [request(), receiver()],
  ];
  const all = await Promise.all(given.map((each) => receiveCallback(...each)));
  return { replies: all.map(({ reply }) => reply), runs };
}

/** Uncaught exceptions, which would end the process. */
function uncaught(): unknown[] {
  const errors: unknown[] = [];
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => errors.push(error));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  });
  return errors;
}

test.each(EVENTS)('threat A58: a subscriber that throws in %s changes no result', async (event) => {
  const without = await answers();
  const errors = uncaught();
  on('payment-service:callback', event, () => {
    throw new Error('subscriber');
  });
  expect(await answers()).toEqual(without);
  await new Promise(setImmediate);
  expect(errors.length).toBeGreaterThan(0);
});

const get = (): never => {
  throw new Error('accessor');
};
test.each<[what: string, change: (message: object) => unknown]>([
  [
    'makes the message unreadable',
    (message) => Object.defineProperty(message, 'span', { get, enumerable: true }),
  ],
  [
    'empties and freezes the message',
    (message) => {
      for (const name of Object.keys(message)) Reflect.deleteProperty(message, name);
      Object.freeze(message);
    },
  ],
])('threat A58: a subscriber that %s changes no result', async (_what, change) => {
  const without = await answers();
  for (const event of EVENTS)
    on('payment-service:callback', event, (message) => {
      if (!Object.isFrozen(message) && !Object.hasOwn(message as object, 'span')) change(message as object);
    });
  expect(await answers()).toEqual(without);
});

test.each(['before the callback', 'after the callback', 'in its transform'])(
  'threat A58: a store that a subscriber has bound, and that throws %s, changes no result',
  async (when) => {
    const without = await answers();
    const errors = uncaught();
    class Store extends AsyncLocalStorage<unknown> {
      override run<R>(_store: unknown, run: () => R): R {
        if (when === 'after the callback') run();
        throw new Error('store');
      }
    }
    const store = new Store();
    const { start } = tracingChannel('payment-service:callback');
    start.bindStore(store, when === 'in its transform' ? get : () => ({}));
    onTestFinished(() => void start.unbindStore(store));
    expect(await answers()).toEqual(without);
    await new Promise(setImmediate);
    expect(errors.length).toBeGreaterThan(0);
  },
);
