/** `inbox` forwards to the command of the inbox that the project has installed. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.ts';

// The shop's package.json depends on the inbox.
const shop = fileURLToPath(new URL('../../../../apps/shop', import.meta.url));

describe('payment-service-sandbox inbox', () => {
  test('forwards arguments, output and exit code', async () => {
    const help = await runCommand(['inbox', '--help'], { cwd: shop });
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: payment-service-inbox') });
    const wrong = await runCommand(['inbox', 'ls', '--state', 'gone'], { cwd: shop });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Allowed choices are pending') });
  });

  test('says how to install the inbox where it is missing', async () => {
    expect(await runCommand(['inbox', 'ls'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('npm install @payment-service/inbox'),
    });
  });
});
