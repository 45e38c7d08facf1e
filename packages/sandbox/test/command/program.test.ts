/** The command with a program behind `--`: keys, the first callback, exit codes and signals. */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../../../vitest.shared.ts';
import { runCommand, runOnTerminal, startCommand } from '../support/command.ts';

const receiver = fileURLToPath(new URL('../support/programs/receiver.mjs', import.meta.url));
const GREEN = '\u001B[32m';

/** Arguments of the command and of the receiver, on a free port. */
async function withReceiver(...behaviour: string[]) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/payments/callbacks`;
  const args = [
    '--port',
    '0',
    '--callback-url',
    url,
    '--',
    process.execPath,
    receiver,
    String(port),
    ...behaviour,
  ];
  return { port, url, args };
}

describe('payment-service-sandbox -- program', () => {
  test('gives the program its keys, sends one callback when it listens, and reports the outcome and its reason', async () => {
    const { url, args } = await withReceiver('200', '0');
    const { code, stdout, stderr } = await runCommand(args);
    expect(code).toBe(0);
    // Only the program writes to stdout.
    expect(stdout).toMatch(
      /^env http:\/\/127\.0\. SANDBOXPUBLIC SANDBOXSECRET SANDBOXSIGNIN\nreceived POST \/payments\/callbacks\n$/,
    );
    expect(stderr).toContain(`Delivery 1 to ${url}`);
    expect(stderr).toContain('ORD-1001');
    expect(stderr).toMatch(/200 in \d+ ms {2}\{"status":"accepted"\}/);
    expect(stderr).toContain('The callback was accepted.');
    expect(stderr).toContain('Try next');
    expect(stderr).not.toContain('\u001B');
  });

  test('says why a callback was refused, and suggests no misbehaviour yet', async () => {
    const { args } = await withReceiver('500', '3');
    const { code, stderr } = await runCommand(args);
    expect(code).toBe(3);
    expect(stderr).toContain('500 in ');
    expect(stderr).toContain('ended with exit code 3.');
    expect(stderr).not.toContain('Try next');
  });

  test('reports a program that crashes before it listens, and exits with its code', async () => {
    const { port, args } = await withReceiver('200', 'crash');
    const { code, stderr } = await runCommand(args);
    expect(code).toBe(7);
    expect(stderr).toContain('Cannot find module of the test');
    expect(stderr).toContain(`ended before it listened on 127.0.0.1:${port}.`);
    expect(stderr).toContain('ended with exit code 7.');
  });

  test('a program that does not exist is reported in one line', async () => {
    const { code, stderr } = await runCommand(['--port', '0', '--', 'no-such-program-here']);
    expect(code).toBe(1);
    expect(stderr).toContain('no-such-program-here could not be started: there is no such program.');
    expect(stderr).not.toContain('    at ');
  });

  test('does not start the program when another one uses the port', async () => {
    const { port, args } = await withReceiver();
    const other = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { code, stdout, stderr } = await runCommand(args);
    other.close();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`Port ${port} is in use: another program would receive the callbacks.`);
  });

  test('says that no callback was sent without an address, and remembers the address of an earlier start', async () => {
    const { port, args } = await withReceiver('200', '0');
    const without = [process.execPath, receiver, String(port), '200', '0'];
    const command = await startCommand(['--port', '0', '--', ...without], { until: 'No callback was sent' });
    await command.stop('SIGTERM');
    const { cwd } = command;
    await runCommand(args, { cwd });
    const again = await runCommand(['--port', '0', '--', ...without], { cwd });
    expect(again.stderr).toContain('The callback was accepted.');
  });

  test('forwards a signal, lets the program end gracefully, and exits with its code', async () => {
    const { args } = await withReceiver();
    const command = await startCommand(args, { until: 'Try next' });
    expect(await command.stop('SIGTERM')).toBe(5);
    expect(command.output()).toContain('ends gracefully');
    expect(command.output()).not.toContain('ended with exit code');
  });

  test('Ctrl-C without a terminal ends a program that has no handler, with the exit code of shells', async () => {
    const { args } = await withReceiver();
    const command = await startCommand(args, { until: 'Try next' });
    expect(await command.stop('SIGINT')).toBe(130);
  });

  test('colours the outcome on a terminal, and not with NO_COLOR', async () => {
    const coloured = await withReceiver('200', '0');
    expect((await runOnTerminal(coloured.args)).stdout).toContain(`${GREEN}  The callback was accepted.`);
    const plain = await withReceiver('200', '0');
    const { stdout } = await runOnTerminal(plain.args, { env: { NO_COLOR: '1' } });
    expect(stdout).toContain('The callback was accepted.');
    expect(stdout).not.toContain('\u001B');
  });

  test('Ctrl-C on a terminal reaches the program once, and both end', async () => {
    const { args } = await withReceiver('200', 'counts');
    // The terminal's own interrupt character, from its keyboard.
    const { code, stdout } = await runOnTerminal(args, { keys: { after: 'Try next', press: '\u0003' } });
    expect(stdout).toContain('interrupted 1 times');
    expect(code).toBe(6);
  });
});
