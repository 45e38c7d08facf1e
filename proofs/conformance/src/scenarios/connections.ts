import { acceptance, accepted, refused, thenAccepted } from '../expectations.ts';
import {
  type CallbackData,
  callbackHead,
  callbackRequest,
  chunkedCallbackRequest,
  payload,
  TEXT,
  UNSIGNED_REQUEST,
} from '../http-request.ts';
import { ANSWERS, closing } from '../outcome.ts';
import { type CallbackScenario, expecting, HANDLER, onOneConnection, type Play } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const UNSIGNED = refused('signature_missing');

const genuine = callbackRequest();
const order = (number: number): CallbackData => payload({ merchant_reference: `ORD-${number}` });
const half = [callbackHead({ 'content-length': String(TEXT.length) }), TEXT.slice(0, 100)];
const [head = '', chunk = ''] = chunkedCallbackRequest([TEXT]);

/** After every scenario, a genuine callback on a new connection is accepted. */
async function isHealthy(stage: Stage): Promise<void> {
  await stage.ask(genuine);
}

/** The server responds to the start of a request, and closes the connection. */
function closedAfter(...parts: readonly (string | Uint8Array)[]): Play {
  return async (stage) => {
    const client = await stage.connect();
    await client.write(...parts);
    stage.record(await client.answer());
    await client.closedByServer();
    await isHealthy(stage);
  };
}

/** The sender hangs up after the start of a request. */
function abandoned(how: 'hangUp' | 'reset', ...parts: readonly (string | Uint8Array)[]): Play {
  return async (stage) => {
    const client = await stage.connect();
    await client.write(...parts);
    await stage.requestArrived();
    client[how]();
    await stage.serverSawHangUps();
    await isHealthy(stage);
  };
}

export const connections: readonly CallbackScenario[] = [
  ...expecting(accepted(), {
    'a sender that waits for 100 Continue receives it': async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(TEXT.length), expect: '100-continue' }));
      const interim = await client.answer({ interim: true });
      if (interim.status !== 100) throw new Error(`The interim answer is ${interim.status}.`);
      await client.write(TEXT);
      stage.record(await client.answer());
    },
  }),
  // A refused request, whose body the adapter has not read, and a genuine one after it on the same connection.
  ...expecting(thenAccepted(UNSIGNED), {
    'a connection survives the refusal of a small unread body': onOneConnection(UNSIGNED_REQUEST, genuine),
  }),
  ...expecting(thenAccepted({ ...UNSIGNED, answers: [closing(ANSWERS.unauthorized)] }), {
    'threat A18: the connection of an unsigned body of 65,537 bytes is closed': closedAfter(
      callbackHead({ 'content-length': '65537', 'hmac-signature': undefined }),
    ),
  }),
  ...expecting(thenAccepted(refused('body_too_large', ANSWERS.contentTooLarge)), {
    'threat A18: the connection is closed when the declared length is over 64 KiB, and no body is read':
      closedAfter(callbackHead({ 'content-length': '1000000000' })),
  }),
  {
    name: 'threat A18: a stalled body is refused after bodyTimeoutMs, and the connection is closed',
    options: { bodyTimeoutMs: 200, handlerTimeoutMs: 5000 },
    handle: (_callback, stage) => stage.waitAtGate(),
    play: async (stage) => {
      const [slow, client] = [await stage.connect(), await stage.connect()];
      await slow.write(genuine);
      await stage.handlerCalled();
      await client.write(...half);
      stage.record(await client.answer());
      await client.closedByServer();
      // With the default of 10 seconds, this one would have been answered first, with handlerTimeoutMs.
      stage.openGate();
      stage.record(await slow.answer());
    },
    expect: thenAccepted(refused('body_timeout', ANSWERS.requestTimeout)),
  },
  ...expecting(thenAccepted({ refusals: ['body_aborted'] }), {
    'a sender that hangs up halfway through a declared body is reported, and the server stays healthy':
      abandoned('hangUp', ...half),
    // The whole body, without the final chunk.
    'a sender that hangs up before the last chunk is reported, and the server stays healthy': abandoned(
      'hangUp',
      head,
      chunk,
    ),
    'a sender whose connection is reset halfway is reported, and the server stays healthy': abandoned(
      'reset',
      ...half,
    ),
  }),
  {
    name: 'each of twenty concurrent callbacks reaches the handler once',
    play: (stage) => {
      const requests = Array.from({ length: 20 }, (_, number) => callbackRequest({ data: order(number) }));
      return Promise.all(requests.map((request) => stage.ask(request)));
    },
    record: () => 'one',
    expect: accepted(...Array.from({ length: 20 }, () => 'one')),
  },
  {
    // In pass-through mode the app answers, and decides about the connection.
    name: 'a server that shuts down answers what has arrived, refuses new connections, and ends with its last answer',
    modes: HANDLER,
    handle: (callback, stage) => callback.signed.merchant_reference === 'ORD-7' && stage.waitAtGate(),
    play: async (stage) => {
      const [busy, partial, idle] = [await stage.connect(), await stage.connect(), await stage.connect()];
      await busy.write(callbackRequest({ data: order(7) }));
      await stage.handlerCalled();
      await partial.write(...half);
      await stage.ask(genuine, idle);
      await stage.shutDown();
      await partial.write(TEXT.slice(100));
      stage.record(await partial.answer());
      stage.openGate();
      stage.record(await busy.answer());
      await stage.closed();
    },
    expect: (mode) => ({
      answers: [acceptance(mode), closing(acceptance(mode)), closing(acceptance(mode))],
      handled: ['ORD-7', 'ORD-1001', 'ORD-1001'],
    }),
  },
  {
    name: 'a handler runs to its end when the sender hangs up, and the server stays healthy',
    handle: (callback, stage) => callback.signed.merchant_reference === 'ORD-7' && stage.waitAtGate(),
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackRequest({ data: order(7) }));
      await stage.handlerCalled();
      client.hangUp();
      await stage.serverSawHangUps();
      stage.openGate();
      await isHealthy(stage);
    },
    expect: (mode) => ({ answers: [acceptance(mode)], handled: ['ORD-7', 'ORD-1001'] }),
  },
];
