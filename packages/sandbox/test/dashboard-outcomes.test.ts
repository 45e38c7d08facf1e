import { describe, expect, test } from 'vitest';
import { collection } from './support/api.ts';
import { row, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();
const { show } = stage;

describe('the outcome of a delivery', () => {
  const types = { json: 'application/json', html: 'text/html; charset=utf-8' };
  test.each([
    ['accepted', 200, types.json, '{"status":"accepted"}', {}, 'Delivered', 'The callback was accepted.'],
    [
      'another key',
      401,
      types.json,
      '{"error":"unauthorized"}',
      {},
      'Failed',
      'paymentCallbacks() refused a valid signature.',
    ],
    [
      'a login',
      401,
      types.json,
      '{}',
      {},
      'Failed',
      'The endpoint returned 401, but not from paymentCallbacks().',
    ],
    [
      'a forged signature, refused',
      401,
      types.json,
      '{}',
      { bad_signature: true },
      'Correctly refused',
      'The bad signature was refused, as expected.',
    ],
    [
      'a forged signature, accepted',
      200,
      types.json,
      '{}',
      { bad_signature: true },
      'Wrong answer',
      'A bad signature was ACCEPTED',
    ],
    [
      'a forged amount, accepted',
      200,
      types.json,
      '{}',
      { forged_amount: 1 },
      'Delivered',
      'Make sure that nothing was credited',
    ],
    ['another t, accepted', 200, types.json, '{}', { t_offset_seconds: -10 }, 'Delivered', 't was changed.'],
    [
      'a web page',
      200,
      types.html,
      '<!doctype html><h1>Shop</h1>',
      {},
      'Wrong answer',
      'The response is a web page, not that of a callback route.',
    ],
    ['a crash', 500, types.html, '<h1>Error</h1>', {}, 'Failed', 'Your endpoint returned 500.'],
    ['too large', 413, types.json, '{}', {}, 'Failed', 'The endpoint refuses the body as too large.'],
  ] as const)(
    '%s: says what happened and what to do, on its page and in its row',
    async (_name, status, type, body, misbehave, state, words) => {
      const sandbox = stage.open({ retry: { preset: 'none' } });
      stage.merchant.answer = (response) => {
        response.writeHead(status, { 'content-type': type });
        response.end(body);
      };
      sandbox.collect({ ...collection, misbehave });
      await sandbox.idle();
      const detail = textOf(await show('/deliveries/1'));
      expect(detail).toContain(words);
      expect(detail).toContain(`Delivery 1 ${state}`);
      expect(row(await show('/deliveries'), 'deliveries-1001').startsWith(`${state} 1 `)).toBe(true);
    },
  );

  test('names a refused connection, and the last four characters of a wrong key', async () => {
    const sandbox = stage.open({ retry: { preset: 'none' }, callbackUrl: 'http://127.0.0.1:9/callbacks' });
    sandbox.collect(collection);
    await sandbox.idle();
    expect(textOf(await show('/deliveries/1'))).toContain(
      'Nothing listens at this address. 127.0.0.1:9: ECONNREFUSED.',
    );
    stage.merchant.answer = (response) => response.writeHead(401).end();
    sandbox.collect({ ...collection, callback_url: stage.merchant.url });
    await sandbox.idle();
    expect(textOf(await show('/deliveries/2'))).toContain(`ends in ${sandbox.account.signingKey.slice(-4)}`);
  });
});
