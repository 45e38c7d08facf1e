import { expect, test } from 'vitest';
import { SandboxRefusal } from '../src/index.ts';
import { payout } from './support/api.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({ fetch: async () => new Response('ok') });

test.each([
  'http://example.com/callbacks',
  'http://10.0.0.1/callbacks',
  'http://192.168.1.1/callbacks',
  'http://169.254.169.254/latest/meta-data',
  'http://0.0.0.0/callbacks',
  'http://0/callbacks',
  'http://[::]/callbacks',
  'http://[fe80::1]/callbacks',
  'http://[::ffff:10.0.0.1]/callbacks',
  'http://127.0.0.1.example.com/callbacks',
  'http://localhost.example.com/callbacks',
  'http://app.localhost/callbacks',
  'http://localhost./callbacks',
  'http://127.0.0.1@example.com/callbacks',
  'http://user:pass@127.0.0.1/callbacks',
  'ftp://127.0.0.1/callbacks',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '/callbacks',
  '',
])('threat A27: no callback goes to %j, which is not this computer', async (callback_url) => {
  const refusal = { status: 422, reason: 'destination_refused', field: 'callback_url' };
  const start = () => stage.collect({ callback_url });
  expect(start).toThrow(SandboxRefusal);
  expect(start).toThrow(expect.objectContaining(refusal));
  expect(start).toThrow(/^callback_url: must /);
  const { status, body } = await stage.call('POST', '/sandbox/payouts', { ...payout, callback_url });
  expect({ status, ...body.data }).toEqual(refusal);
  expect(stage.sandbox.deliveries()).toEqual([]);
});

test.each(['127.0.0.1', 'localhost', '[::1]', '127.8.9.10', '2130706433', '0x7f.1'])(
  'a callback may go to %s',
  async (host) => {
    await stage.deliver({ callback_url: `http://${host}:9/callbacks` });
    expect(stage.sandbox.deliveries()[0]?.state).toBe('delivered');
  },
);

test('threat A27: a callback may go to a listed host, with or without its port, and to no other', async () => {
  stage.open({
    allowedHosts: ['shop.internal', 'other.internal:8080'],
    fetch: async () => new Response('ok'),
  });
  for (const callback_url of ['https://shop.internal:444/', 'http://other.internal:8080/'])
    await stage.deliver({ callback_url });
  for (const callback_url of ['http://other.internal:8081/', 'http://a.shop.internal/'])
    expect(() => stage.collect({ callback_url })).toThrow(SandboxRefusal);
  expect(stage.sandbox.deliveries().map(({ state }) => state)).toEqual(['delivered', 'delivered']);
});

test.each([
  ['Node', undefined],
  ['fetch', globalThis.fetch],
])('threat A27: a callback that is sent with %s follows no redirect', async (_, fetch) => {
  stage.merchant.answer = (response, { path }) => {
    response.writeHead(path === '/detour' ? 307 : 200, { location: '/callbacks' }).end();
  };
  const callback_url = stage.merchant.url.replace('callbacks', 'detour');
  stage.open({ retry: { max_attempts: 1 }, fetch });
  await stage.deliver({ callback_url });
  expect(stage.merchant.received).toHaveLength(1);
  expect(stage.sandbox.deliveries()).toMatchObject([{ state: 'given_up', attempts: [{ status: 307 }] }]);
});
