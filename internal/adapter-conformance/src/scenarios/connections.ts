import { sampleCallback } from '@payment-service/core/testing';
import { acceptance, accepted } from '../expectations.ts';
import { callbackHead, callbackRequest, chunkedCallbackRequest } from '../http-request.ts';
import { ANSWERS, type AnswerRecord, type Outcome } from '../outcome.ts';
import type { CallbackScenario } from '../scenario.ts';
import type { Stage } from '../stage.ts';

const text = JSON.stringify(sampleCallback());
const order = (number: number) => sampleCallback({ payload: { merchant_reference: `ORD-${number}` } });

/** A refused request, its body unread by the adapter, and a genuine one behind it on the same connection. */
function refusedThenGenuine(refused: Buffer): CallbackScenario['play'] {
  return async (stage) => {
    const client = await stage.connect();
    await stage.ask(refused, client);
    await stage.ask(callbackRequest(), client);
  };
}

function thenAccepted(first: AnswerRecord, rest: Partial<Outcome> = {}): CallbackScenario['expect'] {
  return (mode) => ({ answers: [first, acceptance(mode)], handled: ['ORD-1001'], ...rest });
}

/** Whatever happened before: a genuine callback on a new connection is accepted. */
async function isHealthy(stage: Stage): Promise<void> {
  await stage.ask(callbackRequest());
}

export const connections: readonly CallbackScenario[] = [
  {
    name: 'two callbacks on one connection',
    play: async (stage) => {
      const client = await stage.connect();
      await stage.ask(callbackRequest({ data: order(1) }), client);
      await stage.ask(chunkedCallbackRequest([JSON.stringify(order(2))], { data: order(2) }), client);
    },
    expect: (mode) => ({ answers: [acceptance(mode), acceptance(mode)], handled: ['ORD-1', 'ORD-2'] }),
  },
  {
    name: 'two callbacks sent at once on one connection are answered in order',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(
        Buffer.concat([
          callbackRequest({ data: order(1) }),
          callbackRequest({ data: order(2), headers: { 'hmac-signature': undefined } }),
          callbackRequest({ data: order(3) }),
        ]),
      );
      for (let count = 0; count < 3; count++) stage.record(await client.answer());
    },
    expect: (mode) => ({
      answers: [acceptance(mode), ANSWERS.unauthorized, acceptance(mode)],
      refusals: ['signature_missing'],
      handled: ['ORD-1', 'ORD-3'],
    }),
  },
  {
    name: 'a callback behind one whose body was refused unread',
    play: refusedThenGenuine(callbackRequest({ headers: { 'hmac-signature': undefined } })),
    expect: thenAccepted(ANSWERS.unauthorized, { refusals: ['signature_missing'] }),
  },
  {
    name: 'a callback behind one whose long body was refused unread',
    play: refusedThenGenuine(
      callbackRequest({ body: 'x'.repeat(300_000), headers: { 'hmac-signature': undefined } }),
    ),
    expect: thenAccepted(ANSWERS.unauthorized, { refusals: ['signature_missing'] }),
  },
  {
    name: 'a callback behind a wrong method with a body',
    play: refusedThenGenuine(callbackRequest({ method: 'PUT' })),
    expect: thenAccepted(ANSWERS.methodNotAllowed),
  },
  {
    name: 'a callback behind a wrong content type',
    play: refusedThenGenuine(callbackRequest({ headers: { 'content-type': 'text/plain' } })),
    expect: thenAccepted(ANSWERS.unsupportedMediaType),
  },
  {
    name: 'a callback behind a forged one',
    play: refusedThenGenuine(callbackRequest({ body: text.replace('COMPLETED', 'FAILED') })),
    expect: thenAccepted(ANSWERS.unauthorized, { refusals: ['mismatch'] }),
  },
  {
    name: 'twenty callbacks at the same time reach the handler once each',
    play: async (stage) => {
      await Promise.all(
        Array.from({ length: 20 }, (_, number) => stage.ask(callbackRequest({ data: order(number) }))),
      );
    },
    record: () => 'one',
    expect: (mode) => ({
      answers: Array.from({ length: 20 }, () => acceptance(mode)),
      handled: Array.from({ length: 20 }, () => 'one'),
    }),
  },
  {
    name: 'a sender that waits for 100 Continue gets it',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(text.length), expect: '100-continue' }));
      const interim = await client.answer({ interim: true });
      if (interim.status !== 100) throw new Error(`Not 100 Continue but ${interim.status}.`);
      await client.write(text);
      stage.record(await client.answer());
    },
    expect: accepted(),
  },
  {
    name: 'a sender that closes its side after the request gets its answer',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackRequest());
      client.finish();
      stage.record(await client.answer());
    },
    expect: accepted(),
  },
  {
    name: 'a sender that hangs up half way through a declared body: the handler is not called, the server is healthy',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(text.length) }), text.slice(0, 100));
      await stage.requestArrived();
      client.hangUp();
      await stage.serverSawHangUps();
      await isHealthy(stage);
    },
    expect: accepted(),
  },
  {
    name: 'a sender that hangs up half way through a chunked body: the handler is not called, the server is healthy',
    play: async (stage) => {
      const client = await stage.connect();
      const [head = '', chunk = ''] = chunkedCallbackRequest([text]);
      await client.write(head, chunk); // The whole body, but not the chunk that ends it.
      await stage.requestArrived();
      client.hangUp();
      await stage.serverSawHangUps();
      await isHealthy(stage);
    },
    expect: accepted(),
  },
  {
    name: 'a sender whose connection is reset half way: the handler is not called, the server is healthy',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(text.length) }), text.slice(0, 100));
      await stage.requestArrived();
      client.reset();
      await stage.serverSawHangUps();
      await isHealthy(stage);
    },
    expect: accepted(),
  },
  {
    name: 'a sender that hangs up while the handler runs: the handler runs to its end, the server is healthy',
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
  {
    name: 'threat A18: a body that stalls is given up after bodyTimeoutMs, and the connection is closed',
    options: { bodyTimeoutMs: 200 },
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(text.length) }), text.slice(0, 100));
      stage.record(await client.answer());
      await client.closedByServer();
    },
    expect: { answers: [ANSWERS.requestTimeout] },
  },
  {
    name: 'threat A18: a body of which nothing comes is given up after bodyTimeoutMs, and the server is healthy',
    options: { bodyTimeoutMs: 200 },
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'transfer-encoding': 'chunked' }));
      stage.record(await client.answer());
      await client.closedByServer();
      await isHealthy(stage);
    },
    expect: thenAccepted(ANSWERS.requestTimeout),
  },
  {
    name: 'threat A18: too much declared: the connection is closed, so that nothing of it is read',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': '1000000000' }));
      stage.record(await client.answer());
      await client.closedByServer();
      await isHealthy(stage);
    },
    expect: thenAccepted(ANSWERS.contentTooLarge),
  },
];
