import type { Parts } from '../connection.ts';
import { callbackHead, callbackRequest, payload, TEXT, UNSIGNED_REQUEST } from '../http-request.ts';
import { ANSWERS, acceptance, accepted, closing, refused, TOO_LARGE, thenAccepted } from '../outcome.ts';
import { type CallbackScenarios, HANDLER, type Play } from '../scenario.ts';
import type { Stage } from '../stage.ts';

type Setting = NonNullable<CallbackScenarios[string][2]>;

const UNSIGNED = refused('signature_missing');
const UNSIGNED_CLOSED = refused('signature_missing', closing(ANSWERS.unauthorized));
const ABORTED = thenAccepted({ refusals: ['body_aborted'] });

const genuine = callbackRequest();
const order = (number: number): Buffer =>
  callbackRequest({ data: payload({ merchant_reference: `ORD-${number}` }) });
const half: Parts = [callbackHead({ 'content-length': String(TEXT.length) }), TEXT.slice(0, 100)];
const gateForOrder7: Setting['handle'] = ({ signed }, stage) =>
  signed.merchant_reference === 'ORD-7' && stage.waitAtGate();

/** The server responds to the start of a request, and closes the connection. Afterwards, a genuine callback is accepted. */
function closedAfter(head: Uint8Array): Play {
  return async (stage) => {
    const client = await stage.connect();
    await stage.ask(head, client);
    await client.closedByServer();
    await stage.ask(genuine);
  };
}

/** The sender leaves after the start of a request. Afterwards, a genuine callback is accepted. */
function abandoned(reached: (stage: Stage) => Promise<void>, ...parts: Parts): Play {
  return async (stage) => {
    const client = await stage.connect();
    await client.write(...parts);
    await reached(stage);
    client.hangUp();
    await stage.serverSawHangUps();
    stage.openGate();
    await stage.ask(genuine);
  };
}

const arrived = (stage: Stage): Promise<void> => stage.requestArrived();
const inHandler = (stage: Stage): Promise<void> => stage.handlerCalled();

export const connections: CallbackScenarios = {
  // The adapter has not read the body of the first one.
  'a connection survives the refusal of a small unread body': [
    async (stage) => {
      const client = await stage.connect();
      for (const request of [UNSIGNED_REQUEST, genuine]) await stage.ask(request, client);
    },
    thenAccepted(UNSIGNED),
  ],
  'threat A18: the connection of an unsigned body of 65,537 bytes is closed': [
    closedAfter(callbackHead({ 'content-length': '65537', 'hmac-signature': undefined })),
    thenAccepted(UNSIGNED_CLOSED),
  ],
  'threat A18: the connection is closed when the declared length is over 64 KiB, and no body is read': [
    closedAfter(callbackHead({ 'content-length': '1000000000' })),
    thenAccepted(TOO_LARGE),
  ],
  'threat A18: a stalled body is refused after bodyTimeoutMs, and the connection is closed': [
    async (stage) => {
      const [slow, client] = [await stage.connect(), await stage.connect()];
      await slow.write(genuine);
      await stage.handlerCalled();
      await stage.ask(half, client);
      await client.closedByServer();
      // With the default of 10 seconds, this one would have been answered first, with handlerTimeoutMs.
      stage.openGate();
      stage.record(await slow.answer());
    },
    thenAccepted(refused('body_timeout', ANSWERS.requestTimeout)),
    {
      options: { bodyTimeoutMs: 200, handlerTimeoutMs: 5000 },
      handle: (_callback, stage) => stage.waitAtGate(),
    },
  ],
  'a sender that hangs up halfway through a declared body is reported, and the server stays healthy': [
    abandoned(arrived, ...half),
    ABORTED,
  ],
  'a handler runs to its end when the sender hangs up, and the server stays healthy': [
    abandoned(inHandler, order(7)),
    (mode) => ({ answers: [acceptance(mode)], handled: ['ORD-7', 'ORD-1001'] }),
    { handle: gateForOrder7 },
  ],
  'each of twenty concurrent callbacks reaches the handler once': [
    (stage) => Promise.all(Array.from({ length: 20 }, (_, number) => stage.ask(order(number)))),
    accepted(...Array<string>(20).fill('one')),
    { record: () => 'one' },
  ],
  'a server that shuts down answers what has arrived, refuses new connections, and ends with its last answer':
    [
      async (stage) => {
        const [busy, partial, idle] = [await stage.connect(), await stage.connect(), await stage.connect()];
        await busy.write(order(7));
        await stage.handlerCalled();
        await partial.write(...half);
        await stage.ask(genuine, idle);
        await stage.shutDown();
        await stage.ask([TEXT.slice(100)], partial);
        stage.openGate();
        stage.record(await busy.answer());
        await stage.closed();
      },
      {
        answers: [ANSWERS.accepted, closing(ANSWERS.accepted), closing(ANSWERS.accepted)],
        handled: ['ORD-7', 'ORD-1001', 'ORD-1001'],
      },
      // In pass-through mode the app answers, and decides about the connection.
      { ...HANDLER, handle: gateForOrder7 },
    ],
};
