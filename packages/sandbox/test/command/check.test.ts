/** `check`, which asks a sandbox that runs. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freePort } from '../../../../vitest.shared.ts';
import { runCommand, startCommand } from '../support/command.ts';
import { type Merchant, startMerchant } from '../support/merchant.ts';

let merchant: Merchant;
beforeEach(async () => {
  merchant = await startMerchant();
});
afterEach(() => merchant.close());

test('payment-service-sandbox check prints a line for each case and what to do, and exits with 1 when one failed', async () => {
  const { cwd } = await startCommand(['--port', '0', '--callback-url', merchant.url]);
  const { code, stdout, stderr } = await runCommand(['check'], { cwd });
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(/^Check of http/);
  expect(stdout).toMatch(/^ {2}pass {2}A genuine callback +2xx +200$/m);
  expect(stdout).toMatch(/^ {2}fail {2}Signed with another key +400, 401 or 403 +200$/m);
  expect(stdout).toContain('        Verify the signature before anything else, and answer 401');
  expect(stdout).toMatch(/11 of 22 cases failed\.\n$/);
  expect(stdout).not.toContain('\u001B');
  expect(merchant.received).toHaveLength(22);
});

test('payment-service-sandbox check takes an address, and prints JSON for programs', async () => {
  const { cwd } = await startCommand(['--port', '0']);
  const url = `http://127.0.0.1:${await freePort()}/`;
  const { code, stdout } = await runCommand(['check', url, '--json'], { cwd });
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ url, ok: false, results: [{ name: 'genuine', status: null }] });
  const refused = await runCommand(['check'], { cwd });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('callback_url: is required') });
});
