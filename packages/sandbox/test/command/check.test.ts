/** `check`, which asks a sandbox that runs. */
import { expect, test } from 'vitest';
import { runCommand, startCommand } from '../support/command.ts';
import { useStage } from '../support/stage.ts';

const stage = useStage();

test('payment-service-sandbox check prints a line for each case and what to do, and exits with 1 when one failed', async () => {
  const { cwd } = await startCommand(['--port', '0']);
  const refused = await runCommand(['check'], { cwd });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('callback_url: is required') });
  const { code, stdout, stderr } = await runCommand(['check', stage.merchant.url], { cwd });
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(/^Check of http/);
  expect(stdout).toMatch(/^ {2}pass {2}A genuine callback +2xx +200$/m);
  expect(stdout).toMatch(/^ {2}fail {2}Signed with another key +400, 401 or 403 +200$/m);
  expect(stdout).toContain('        Verify the signature before anything else, and answer 401');
  expect(stdout).toMatch(/11 of 22 cases failed\.\n$/);
  expect(stdout).not.toContain('\u001B');
  expect(stage.merchant.received).toHaveLength(22);
  // For programs, JSON.
  const json = await runCommand(['check', stage.merchant.url, '--json'], { cwd });
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ url: stage.merchant.url, ok: false });
});
