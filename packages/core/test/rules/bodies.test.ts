import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { createCallbackReceiver, receiveCallback } from '../../src/receive/index.ts';
import { callbackData, SIGNATURE, SIGNING_KEY } from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D10 of "What the signature proves", beside the vectors of the contract: every form of a body, and its limit.

describe('3.10 parsed or not, it verifies; consumed and not parsed, it says what to mount where', () => {
  const text = JSON.stringify(callbackData());
  const errors: unknown[] = [];
  const receiver = createCallbackReceiver({
    signingKey: SIGNING_KEY,
    onCallback: () => undefined,
    onError: (error) => errors.push(error),
  });
  async function* stream(bytes: Uint8Array) {
    yield* [bytes.subarray(0, 7), bytes.subarray(7)];
  }
  async function answer(
    body: Parameters<typeof receiveCallback>[0]['body'],
    encoding: [string, string][] = [],
  ) {
    const headers: [string, string][] = [['Hmac-Signature', SIGNATURE], ...encoding];
    return (await receiveCallback({ method: 'POST', headers, body }, receiver)).status;
  }
  const unread = (bytes: Uint8Array) => ({ state: 'unread', stream: stream(bytes) }) as const;

  test('bytes, text and the parsed object get one verdict', () => {
    for (const body of [text, Buffer.from(text), new Uint8Array(Buffer.from(text)), callbackData()]) {
      expect(verdictOf(verify(body))).toBe('accepted');
    }
  });

  test('invalid UTF-8 and a signed name twice are refused in bytes', () => {
    const invalid = Buffer.from(text.replace('ORD-1001', 'ORD-100\u0001'), 'latin1');
    invalid[invalid.indexOf(1)] = 0xff;
    expect(verdictOf(verify(invalid))).toBe('body_malformed');
    const twice = text.replace('"payload":{', '"payload":{"merchant_reference":"ORD-1",');
    expect(verdictOf(verify(twice))).toBe('body_malformed, authentic');
  });

  test('unread and parsed are answered 200; consumed is an error that names the remedy', async () => {
    expect(await answer(unread(Buffer.from(text)))).toBe(200);
    expect(await answer({ state: 'parsed', data: callbackData() })).toBe(200);
    expect(errors).toEqual([]);
    expect(await answer({ state: 'consumed' })).toBe(500);
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/Mount paymentCallbacks\(\) before/) }),
    ]);
  });

  test('64 KiB is the limit, before and after decompression', async () => {
    const padded = (length: number) => Buffer.from(text.padEnd(length, ' '));
    const gzip: [string, string][] = [['content-encoding', 'gzip']];
    expect(await answer(unread(padded(65_536)))).toBe(200);
    expect(await answer(unread(padded(65_537)))).toBe(413);
    expect(await answer(unread(gzipSync(padded(65_536))), gzip)).toBe(200);
    expect(await answer(unread(gzipSync(padded(65_537))), gzip)).toBe(413);
  });
});
