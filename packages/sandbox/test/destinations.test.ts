import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { createSandbox, SandboxRefusal } from '../src/index.ts';
import { call, collection, payout } from './support/api.ts';
import { startMerchant } from './support/merchant.ts';

const merchant = await startMerchant();
afterAll(() => merchant.close());

const refusal = (work: () => unknown): SandboxRefusal => {
  try {
    work();
  } catch (error) {
    if (error instanceof SandboxRefusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

describe('threat A27: callbacks go to this computer only', () => {
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
  ])('refuses %j', async (callback_url) => {
    const sandbox = createSandbox();
    const { status, reason, field, message } = refusal(() =>
      sandbox.collect({ ...collection, callback_url }),
    );
    expect({ status, reason, field }).toEqual({
      status: 422,
      reason: 'destination_refused',
      field: 'callback_url',
    });
    expect(message).toMatch(/^callback_url: must /);
    expect(sandbox.deliveries()).toEqual([]);
    await sandbox.close();
  });

  test.each(['127.0.0.1', 'localhost', '[::1]', '127.8.9.10', '2130706433', '0x7f.1'])(
    'takes %s',
    async (host) => {
      const sandbox = createSandbox({ fetch: async () => new Response('ok') });
      sandbox.collect({ ...collection, callback_url: `http://${host}:9/callbacks` });
      await sandbox.idle();
      expect(sandbox.deliveries()[0]?.state).toBe('delivered');
      await sandbox.close();
    },
  );

  test('accepts a listed host, with or without its port, and no other', async () => {
    const asked: string[] = [];
    const sandbox = createSandbox({
      allowedHosts: ['shop.internal', 'other.internal:8080'],
      fetch: async (input) => {
        asked.push(String(input));
        return new Response('ok');
      },
    });
    const to = (callback_url: string) => sandbox.collect({ ...collection, callback_url });
    to('https://shop.internal:444/callbacks');
    to('http://other.internal:8080/callbacks');
    expect(refusal(() => to('http://other.internal:8081/callbacks')).reason).toBe('destination_refused');
    expect(refusal(() => to('http://a.shop.internal/callbacks')).reason).toBe('destination_refused');
    await sandbox.idle();
    expect(asked.sort()).toEqual([
      'http://other.internal:8080/callbacks',
      'https://shop.internal:444/callbacks',
    ]);
    await sandbox.close();
  });

  test('checks the address of the sandbox itself at construction', () => {
    expect(() => createSandbox({ callbackUrl: 'http://example.com/' })).toThrow(
      /^callbackUrl must be on this computer/,
    );
  });

  test('follows no redirect', async () => {
    const detour = createServer((_, response) => {
      response.writeHead(307, { location: merchant.url }).end();
    });
    await new Promise<void>((resolve) => detour.listen(0, '127.0.0.1', resolve));
    const { port } = detour.address() as AddressInfo;
    const sandbox = createSandbox({ retry: { max_attempts: 1 } });
    sandbox.collect({ ...collection, callback_url: `http://127.0.0.1:${port}/` });
    await sandbox.idle();
    expect(merchant.received).toEqual([]);
    expect(sandbox.deliveries()[0]).toMatchObject({ state: 'given_up', attempts: [{ status: 307 }] });
    await sandbox.close();
    detour.close();
  });

  test('refuses over HTTP as well, and names the field', async () => {
    const sandbox = createSandbox();
    const answer = await call(sandbox, 'POST', '/sandbox/payouts', {
      ...payout,
      callback_url: 'http://10.1.2.3/',
    });
    expect(answer.status).toBe(422);
    expect(answer.body.data).toEqual({ reason: 'destination_refused', field: 'callback_url' });
    await sandbox.close();
  });
});
