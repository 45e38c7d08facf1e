import { sampleCallback } from '@payment-service/core/testing';
import { acceptance, accepted, refused } from '../expectations.ts';
import { callbackHead, callbackRequest, chunkedCallbackRequest, type Headers } from '../http-request.ts';
import { ANSWERS, closing, type Outcome } from '../outcome.ts';
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

function thenAccepted({ answers, refusals = [] }: Partial<Outcome>): CallbackScenario['expect'] {
  return (mode) => ({ answers: [...(answers ?? []), acceptance(mode)], refusals, handled: ['ORD-1001'] });
}

/** After every scenario, a genuine callback on a new connection is accepted. */
async function isHealthy(stage: Stage): Promise<void> {
  await stage.ask(callbackRequest());
}

/** Threat A18: a sender that is refused before its body was read still sends 100 MB. */
function goesOnSending(what: string, method: string, headers: Headers): CallbackScenario {
  const outcome = method === 'POST' ? UNSIGNED : refused('method_not_allowed', ANSWERS.methodNotAllowed);
  const [answer] = outcome.answers;
  return {
    name: `threat A18: a sender that continues with 100 MB after ${what} is disconnected`,
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ ...headers, 'hmac-signature': undefined }, method));
      stage.record(await client.answer());
      await client.writeUntilClosed(`10000\r\n${'x'.repeat(0x10000)}\r\n`, HUGE);
      if (stage.bytesRead > MAX_READ) throw new Error(`The server read ${stage.bytesRead} bytes.`);
      await client.closedByServer();
      await isHealthy(stage);
    },
    expect: thenAccepted({ ...outcome, answers: [closing(answer)] }),
  };
}

const HUGE = 100_000_000;
/** How much the sockets' own buffers may hold before the server closes: a small part of what is sent. */
const MAX_READ = 4_000_000;
const UNSIGNED = refused('signature_missing');
const TIMEOUT = refused('body_timeout', ANSWERS.requestTimeout);
const ABORTED: Partial<Outcome> = { refusals: ['body_aborted'] };

export const connections: readonly CallbackScenario[] = [
  {
    name: 'two callbacks on one connection verify',
    play: async (stage) => {
      const client = await stage.connect();
      await stage.ask(callbackRequest({ data: order(1) }), client);
      await stage.ask(chunkedCallbackRequest([JSON.stringify(order(2))], { data: order(2) }), client);
    },
    expect: (mode) => ({ answers: [acceptance(mode), acceptance(mode)], handled: ['ORD-1', 'ORD-2'] }),
  },
  {
    name: 'pipelined callbacks are answered in order',
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
    name: 'a connection survives the refusal of a small unread body',
    play: refusedThenGenuine(callbackRequest({ headers: { 'hmac-signature': undefined } })),
    expect: thenAccepted(UNSIGNED),
  },
  {
    name: 'a connection survives the refusal of an unread body of 65,536 bytes',
    play: refusedThenGenuine(
      callbackRequest({ body: 'x'.repeat(65_536), headers: { 'hmac-signature': undefined } }),
    ),
    expect: thenAccepted(UNSIGNED),
  },
  {
    name: 'threat A18: the connection of an unsigned body of 65,537 bytes is closed',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': '65537', 'hmac-signature': undefined }));
      stage.record(await client.answer());
      await client.closedByServer();
      await isHealthy(stage);
    },
    expect: thenAccepted({ ...UNSIGNED, answers: [closing(ANSWERS.unauthorized)] }),
  },
  goesOnSending('a 401, in chunks,', 'POST', { 'transfer-encoding': 'chunked' }),
  goesOnSending('a 401, as declared,', 'POST', { 'content-length': String(HUGE) }),
  goesOnSending('a 405, in chunks,', 'PUT', { 'transfer-encoding': 'chunked' }),
  {
    name: 'a connection survives the refusal of a wrong method with a small body',
    play: refusedThenGenuine(callbackRequest({ method: 'PUT' })),
    expect: thenAccepted(refused('method_not_allowed', ANSWERS.methodNotAllowed)),
  },
  {
    name: 'a connection survives the refusal of an unknown encoding',
    play: refusedThenGenuine(callbackRequest({ headers: { 'content-encoding': 'zstd' } })),
    expect: thenAccepted(refused('encoding_unsupported', ANSWERS.unsupportedMediaType)),
  },
  {
    name: 'a connection survives a forged callback',
    play: refusedThenGenuine(callbackRequest({ body: text.replace('COMPLETED', 'FAILED') })),
    expect: thenAccepted(refused('mismatch')),
  },
  {
    name: 'each of twenty concurrent callbacks reaches the handler once',
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
    name: 'a sender that waits for 100 Continue receives it',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(text.length), expect: '100-continue' }));
      const interim = await client.answer({ interim: true });
      if (interim.status !== 100) throw new Error(`The interim answer is ${interim.status}.`);
      await client.write(text);
      stage.record(await client.answer());
    },
    expect: accepted(),
  },
  {
    name: 'a sender that closes its side after the request receives its answer',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackRequest());
      client.finish();
      stage.record(await client.answer());
    },
    expect: accepted(),
  },
  {
    name: 'a sender that hangs up halfway through a declared body is reported, and the server stays healthy',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(text.length) }), text.slice(0, 100));
      await stage.requestArrived();
      client.hangUp();
      await stage.serverSawHangUps();
      await isHealthy(stage);
    },
    expect: thenAccepted(ABORTED),
  },
  {
    name: 'a sender that hangs up before the last chunk is reported, and the server stays healthy',
    play: async (stage) => {
      const client = await stage.connect();
      const [head = '', chunk = ''] = chunkedCallbackRequest([text]);
      await client.write(head, chunk); // The whole body, but not the chunk that ends it.
      await stage.requestArrived();
      client.hangUp();
      await stage.serverSawHangUps();
      await isHealthy(stage);
    },
    expect: thenAccepted(ABORTED),
  },
  {
    name: 'a sender whose connection is reset halfway is reported, and the server stays healthy',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(text.length) }), text.slice(0, 100));
      await stage.requestArrived();
      client.reset();
      await stage.serverSawHangUps();
      await isHealthy(stage);
    },
    expect: thenAccepted(ABORTED),
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
  {
    name: 'threat A18: a stalled body is refused after bodyTimeoutMs, and the connection is closed',
    options: { bodyTimeoutMs: 200 },
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': String(text.length) }), text.slice(0, 100));
      stage.record(await client.answer());
      await client.closedByServer();
    },
    expect: TIMEOUT,
  },
  {
    name: 'threat A18: a body that is never sent is refused after bodyTimeoutMs, and the server stays healthy',
    options: { bodyTimeoutMs: 200 },
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'transfer-encoding': 'chunked' }));
      stage.record(await client.answer());
      await client.closedByServer();
      await isHealthy(stage);
    },
    expect: thenAccepted(TIMEOUT),
  },
  {
    name: 'threat A18: the connection is closed when the declared length is over 64 KiB, and no body is read',
    play: async (stage) => {
      const client = await stage.connect();
      await client.write(callbackHead({ 'content-length': '1000000000' }));
      stage.record(await client.answer());
      await client.closedByServer();
      await isHealthy(stage);
    },
    expect: thenAccepted(refused('body_too_large', ANSWERS.contentTooLarge)),
  },
];
