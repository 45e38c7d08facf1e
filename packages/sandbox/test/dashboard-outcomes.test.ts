import { expect, test } from 'vitest';
import { row } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({ retry: { preset: 'none' } });
const types = { json: 'application/json', html: 'text/html; charset=utf-8' };

test.each([
  ['Delivered', 200, 'json', {}, 'The callback was accepted.'],
  ['Failed', 401, '{"error":"unauthorized"}', {}, 'paymentCallbacks() refused a valid signature.'],
  ['Failed', 401, 'json', {}, 'The endpoint returned 401, but not from paymentCallbacks().'],
  ['Correctly refused', 401, 'json', { bad_signature: true }, 'The bad signature was refused, as expected.'],
  ['Wrong answer', 200, 'json', { bad_signature: true }, 'A bad signature was ACCEPTED'],
  ['Delivered', 200, 'json', { forged_amount: 1 }, 'Make sure that nothing was credited'],
  ['Delivered', 200, 'json', { t_offset_seconds: -10 }, 't was changed.'],
  ['Wrong answer', 200, 'html', {}, 'The response is a web page, not that of a callback route.'],
  ['Failed', 500, 'html', {}, 'Your endpoint returned 500.'],
  ['Failed', 413, 'json', {}, 'The endpoint refuses the body as too large.'],
] as const)(
  'a delivery is %s after %i with %s if it misbehaves like %j, and its page and its row say: %s',
  async (state, status, content, misbehave, words) => {
    stage.merchant.answer = (response) => {
      const type = content === 'html' ? types.html : types.json;
      const body = { html: '<!doctype html><h1>Shop</h1>', json: '{}' };
      response.writeHead(status, { 'content-type': type });
      response.end(content === 'html' || content === 'json' ? body[content] : content);
    };
    await stage.deliver({ misbehave });
    const detail = await stage.read('/deliveries/1');
    expect(detail).toContain(words);
    expect(detail).toContain(`Delivery 1 ${state}`);
    expect(row(await stage.show('/deliveries'), 'deliveries-1001').startsWith(`${state} 1 `)).toBe(true);
  },
);

test('a delivery names a refused connection, and the last four characters of a wrong key', async () => {
  await stage.deliver({ callback_url: 'http://127.0.0.1:9/callbacks' });
  expect(await stage.read('/deliveries/1')).toContain(
    'Nothing listens at this address. 127.0.0.1:9: ECONNREFUSED.',
  );
  stage.answer(401);
  await stage.deliver();
  const { signingKey } = stage.sandbox.account;
  expect(await stage.read('/deliveries/2')).toContain(`ends in ${signingKey.slice(-4)}`);
});
