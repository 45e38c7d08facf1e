/** The command with a program behind `--`: keys, the first callback, exit codes and signals. */
import { createServer } from 'node:http';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freePort } from '../../../../vitest.shared.ts';
import { runCommand, runOnTerminal, startCommand } from '../support/command.ts';

const receiver = fileURLToPath(new URL('../support/programs/receiver.mjs', import.meta.url));

/** Arguments of the command and of the receiver, on a free port. */
async function withReceiver(...behaviour: string[]) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/payments/callbacks`;
  const program = ['--', process.execPath, receiver, String(port), ...behaviour];
  return { port, url, program, args: ['--port', '0', '--callback-url', url, ...program] };
}

test('start gives the program its keys, sends one callback when it listens, and reports the outcome and its reason', async () => {
  const { url, args } = await withReceiver('200', '0');
  const { code, stdout, stderr } = await runCommand(args);
  expect(code).toBe(0);
  // Only the program writes to stdout.
  expect(stdout).toMatch(
    /^env http:\/\/127\.0\. SANDBOXPUBLIC SANDBOXSECRET SANDBOXSIGNIN\nreceived POST \/payments\/callbacks\n$/,
  );
  for (const part of [`sends callbacks to ${url}`, 'in another terminal here'])
    expect(stderr).toContain(part);
  expect(stderr).toMatch(
    /^\d\d:\d\d:\d\d {2}ORD-1001 {2}COMPLETED {2}200 in \d+ ms {2}The callback was accepted\.$/m,
  );
  expect(stderr).not.toContain('\u001B');
});

test('start prints a line for each attempt, and the cause, the fix and the page of the first failure of each kind', async () => {
  const { args, url } = await withReceiver('500', 'stays');
  const retry = ['--retry', '{"preset":"not-2xx","max_attempts":2,"backoff_ms":1}'];
  const { cwd, output, stop } = await startCommand([...retry, ...args], { until: 'attempt 2' });
  expect((await runCommand(['trigger', 'ORD-7'], { cwd })).code).toBe(1);
  await expect.poll(output).toMatch(/ORD-7 {2}COMPLETED {2}attempt 2 {2}/);
  expect(output().match(/^\d\d:\d\d:\d\d .* 500 in \d+ ms {2}Your endpoint returned 500\.$/gm)).toHaveLength(
    4,
  );
  for (const part of [
    `  It was sent to ${url}, which answered: 500`,
    '  Look at its log',
    '#no-callback-arrives',
  ])
    expect(output().split(part)).toHaveLength(2);
  // Ends the receiver as well, which would outlive a command that is killed.
  await stop('SIGTERM');
});

const crash = ['Cannot find module of the test', 'ended before it listened on 127.0.0.1:PORT.'];
test.each([
  ['why a callback was refused', ['500', '3'], 3, ['500 in ', 'ended with exit code 3.']],
  ['that a program crashes early', ['200', 'crash'], 7, [...crash, 'ended with exit code 7.']],
])(
  'start says %s, exits with its code, and suggests no misbehaviour yet',
  async (_, behaviour, exitCode, says) => {
    const { port, args } = await withReceiver(...behaviour);
    const { code, stderr } = await runCommand(args);
    expect(code).toBe(exitCode);
    for (const part of says) expect(stderr).toContain(part.replace('PORT', String(port)));
    expect(stderr).not.toContain('in another terminal here');
  },
);

test('with --endpoints, start sends no callback of its own, and prints where a payment starts', async () => {
  const { args } = await withReceiver();
  const { output, stop } = await startCommand(['--endpoints', 'example', ...args], {
    until: 'Start a payment',
  });
  expect(output()).toContain(
    '  POST /example/collections starts a collection: reference (merchant_reference), ',
  );
  expect(output()).not.toContain('received');
  await stop('SIGTERM');
});

test('start does not start the program when another one uses the port', async () => {
  const { port, args } = await withReceiver();
  const other = createServer().listen(port, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const ended = await runCommand(args);
  other.close();
  const stderr = expect.stringContaining(
    `Port ${port} is in use: another program would receive the callbacks.`,
  );
  expect(ended).toEqual({ code: 1, stdout: '', stderr });
});

test('start says that no callback was sent without an address, and remembers the address of an earlier start', async () => {
  const { args, program } = await withReceiver('200', '0');
  const without = ['--port', '0', ...program];
  const { cwd, stop } = await startCommand(without, { until: 'No callback was sent' });
  await stop('SIGTERM');
  await runCommand(args, { cwd });
  expect((await runCommand(without, { cwd })).stderr).toContain('The callback was accepted.');
});

test('start forwards a signal, lets the program end gracefully, and exits with its code', async () => {
  const { args } = await withReceiver();
  const command = await startCommand(args, { until: 'in another terminal here' });
  expect(await command.stop('SIGTERM')).toBe(5);
  expect(command.output()).toContain('ends gracefully');
  expect(command.output()).not.toContain('ended with exit code');
});

test('start ends a program that ignores a signal with the second one', async () => {
  const ignores = `process.on('SIGTERM', () => console.log('ignored')); setInterval(() => {}, 1000); console.log('runs');`;
  const program = ['--', process.execPath, '-e', ignores];
  const command = await startCommand(['--port', '0', '--memory', ...program], { until: 'runs' });
  const ended = command.stop('SIGTERM');
  await expect.poll(command.output).toContain('ignored');
  void command.stop('SIGTERM');
  expect(await ended).toBe(128 + constants.signals.SIGKILL);
});

test('start ends a program that has no handler by Ctrl-C without a terminal, with the exit code of shells', async () => {
  const { args } = await withReceiver();
  const command = await startCommand(args, { until: 'in another terminal here' });
  expect(await command.stop('SIGINT')).toBe(130);
});

test('start passes Ctrl-C on a terminal to the program once, and both end', async () => {
  const { args } = await withReceiver('200', 'counts');
  // The terminal's own interrupt character, from its keyboard.
  const { code, stdout } = await runOnTerminal(args, {
    keys: { after: 'in another terminal here', press: '\u0003' },
  });
  expect(stdout).toContain('interrupted 1 times');
  expect(code).toBe(6);
});
