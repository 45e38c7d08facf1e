import { describe, expect, test } from 'vitest';
import { createCallbackReceiver, type IncomingBody, receiveCallback } from '../../src/receive/index.ts';
import { parsed, post, unread } from '../incoming.ts';
import { callbackData, SIGNING_KEY } from '../signed-callbacks.ts';
import { verdictOf, verify } from './verify.ts';

// Decision D10, beside the vectors of the contract: every form of a body. test/receive/bodies.test.ts has the limits.

describe('decision D10: a body verifies whether or not a parser has read it', () => {
  const text = JSON.stringify(callbackData());

  test('bytes, a string and the parsed object get one verdict', () => {
    for (const body of [text, Buffer.from(text), new Uint8Array(Buffer.from(text)), callbackData()]) {
      expect(verdictOf(verify(body))).toBe('accepted');
    }
  });

  test('invalid UTF-8 and a repeated signed name are refused in bytes', () => {
    const invalid = Buffer.from(text.replace('ORD-1001', 'ORD-100\u0001'), 'latin1');
    invalid[invalid.indexOf(1)] = 0xff;
    expect(verdictOf(verify(invalid))).toBe('body_malformed');
    const twice = text.replace('"payload":{', '"payload":{"merchant_reference":"ORD-1",');
    expect(verdictOf(verify(twice))).toBe('body_malformed, authentic');
  });

  test('unread and parsed bodies are accepted, and a consumed one is an error that names the remedy', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown): number => errors.push(error);
    const receiver = createCallbackReceiver({
      signingKey: SIGNING_KEY,
      onCallback: () => undefined,
      onError,
    });
    const statusOf = async (body: IncomingBody) =>
      (await receiveCallback(post(body), receiver)).reply?.status;
    expect(await statusOf(unread(Buffer.from(text)))).toBe(200);
    expect(await statusOf(parsed(callbackData()))).toBe(200);
    expect(errors).toEqual([]);
    expect(await statusOf({ state: 'consumed' })).toBe(429);
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/Mount paymentCallbacks\(\) before/) }),
    ]);
  });
});
