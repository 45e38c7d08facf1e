import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { createCallbackReceiver, receiveCallback } from '../../src/receive/index.ts';
import type { BodySink } from '../../src/receive/request-body.ts';
import { post } from '../incoming.ts';
import { callbackData, SIGNING_KEY } from '../signed-callbacks.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const BODY = Buffer.from(JSON.stringify(callbackData()).padEnd(65_536, ' '));

const receiver = createCallbackReceiver({ signingKey: SIGNING_KEY, onCallback: () => undefined });

/** A request whose body is sent by the test. */
function open() {
  const read = vi.fn((_sink: BodySink) => () => undefined);
  const answered = receiveCallback(post({ state: 'unread', read }), receiver);
  const status = answered.then(({ reply }) => reply?.status);
  const [sink] = read.mock.calls[0] ?? expect.fail('The body is not read.');
  return { sink, status };
}

function memory(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test('threat A30: 40 requests in one-byte pieces keep less than 10 MB together', async () => {
  const requests = Array.from({ length: 40 }, open);
  await new Promise(setImmediate);
  const before = memory();
  for (const { sink } of requests) for (const byte of BODY) sink.chunk(Uint8Array.of(byte));
  expect(memory() - before).toBeLessThan(10_000_000);
  for (const { sink } of requests) sink.end();
  expect(await Promise.all(requests.map(({ status }) => status))).toEqual(Array(40).fill(200));
});

test('threat A30: a piece of the sender is never written to', async () => {
  const first = new Uint8Array(BODY.subarray(0, 100));
  const roomy = new Uint8Array(200).fill(1);
  for (const [pieces, expected] of [
    [[first, BODY.subarray(100)], 200],
    [[roomy.subarray(0, 100), Uint8Array.of(2)], 401],
  ] as const) {
    const { sink, status } = open();
    for (const piece of pieces) sink.chunk(piece);
    sink.end();
    expect(await status).toBe(expected);
  }
  expect(Buffer.from(first).equals(BODY.subarray(0, 100))).toBe(true);
  expect(roomy.every((byte) => byte === 1)).toBe(true);
});
