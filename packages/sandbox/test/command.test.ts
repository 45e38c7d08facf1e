import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSandbox } from '../src/index.ts';
import { collection } from './support/api.ts';
import { type Command, runCommand, startCommand, workingDirectory } from './support/command.ts';
import { startMerchant } from './support/merchant.ts';

const started: Command[] = [];
const start = async (...args: string[]): Promise<Command> => {
  const command = await startCommand(args);
  started.push(command);
  return command;
};
afterEach(async () => {
  for (const command of started.splice(0)) {
    if (command.process.exitCode === null && command.process.signalCode === null)
      await command.stop('SIGKILL');
  }
});

describe('payment-service-sandbox', () => {
  it('prints its address, the keys and what to try, and what it says to try works', async () => {
    const { url, keys, output } = await start('--port', '0', '--memory', '--seed', 'docs');
    const { account } = createSandbox({ seed: 'docs' });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    for (const key of Object.values(account)) expect(output()).toContain(key);
    for (const part of ['curl', '/data/payment-providers', '/sandbox/collections', 'Ctrl-C']) {
      expect(output()).toContain(part);
    }
    const body = /-d '(\{.*\})'/.exec(output())?.[1] ?? '';
    const answer = await fetch(`${url}/sandbox/collections`, {
      method: 'POST',
      headers: { ...keys, 'content-type': 'application/json' },
      body,
    });
    expect(answer.status).toBe(201);
    expect(await (await fetch(url)).text()).toContain(account.signingKey);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s stops it with exit code 0, and the port is free again',
    async (signal) => {
      const command = await start('--port', '0');
      expect((await fetch(command.url)).status).toBe(200);
      expect(await command.stop(signal)).toBe(0);
      const { port } = new URL(command.url);
      const again = await start('--port', port);
      expect(again.url).toBe(command.url);
    },
  );

  it('SIGINT stops it at once while callbacks wait, and lets the one in flight end', async () => {
    const merchant = await startMerchant();
    let answer: (() => void) | undefined;
    merchant.answer = (response) => {
      answer = () => response.end();
    };
    const { url, keys, stop } = await start('--port', '0', '--callback-url', merchant.url);
    for (const misbehave of [{ late_ms: 86_400_000 }, {}]) {
      await fetch(`${url}/sandbox/collections`, {
        method: 'POST',
        headers: { ...keys, 'content-type': 'application/json' },
        body: JSON.stringify({ ...collection, misbehave }),
      });
    }
    while (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    const stopped = stop('SIGINT');
    answer();
    expect(await stopped).toBe(0);
    await merchant.close();
  });

  it('--help says how to use it', async () => {
    const { code, stdout, stderr } = await runCommand(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const option of [
      '--port',
      '--host',
      '--file',
      '--memory',
      '--seed',
      '--callback-url',
      '--redirect-url',
      '--allow-host',
      '--misbehave',
      '--retry',
    ]) {
      expect(stdout).toContain(option);
    }
  });

  it('threat A27: --host beyond loopback prints the risk, and --allow-host is a name that it answers under', async () => {
    // An address of loopback that the sandbox does not know as one: the test opens nothing to the network.
    const { url, output } = await start('--port', '0', '--host', '127.1', '--allow-host', 'sandbox');
    expect(output()).toContain('anyone on the network can read its keys and move the simulated money.');
    const { port } = new URL(url);
    const statusUnder = (host: string) =>
      new Promise((resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port, headers: { host } }, (response) =>
          resolve(response.resume().statusCode),
        );
        sent.on('error', reject).end();
      });
    expect([await statusUnder('sandbox'), await statusUnder('example.com')]).toEqual([200, 421]);
  });

  it('a busy port gets a clear message', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await runCommand(['--port', String(port)]);
    other.close();
    expect(code).toBe(1);
    expect(stderr).toBe(
      `payment-service-sandbox: Port ${port} on 127.0.0.1 is taken by another program. Choose another port, or 0 for any free one.\n`,
    );
  });

  it.each([
    [['--port', 'x'], '--port must be a number from 0 to 65535.'],
    [['--port', '65536'], '--port must be a number from 0 to 65535.'],
    [['--host', ''], 'host must not be empty. Leave it out for 127.0.0.1.'],
    [['--host', '192.0.2.1'], '192.0.2.1 is not an address of this computer.'],
    [['--allow-host', 'http://shop'], 'allowedHosts: "http://shop" never matches.'],
    [['--file', '/nowhere/at/all.sqlite'], 'The file could not be opened.'],
    [['--misbehave', '{'], '--misbehave must be JSON'],
    [['--misbehave', '{"explode":true}'], 'misbehave: explode: this field is not known here.'],
    [['--callback-url', 'http://example.com/'], 'callbackUrl must be on this computer'],
    [['--what'], "Unknown option '--what'"],
    [['--memory', '--file', 'x'], '--file and --memory exclude each other.'],
    [['--redirect-url', 'mailto:x'], 'redirectUrl must be an http or https address.'],
    [['extra'], "Unexpected argument 'extra'"],
  ])('%j is refused in one line that says why', async (args, says) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`payment-service-sandbox: ${says}`);
    expect(stderr).not.toContain('    at ');
  });

  it('threat A27: does not start with NODE_ENV=production', async () => {
    const { code, stderr } = await runCommand(['--port', '0'], { NODE_ENV: 'production' });
    expect(code).toBe(1);
    expect(stderr).toContain('NODE_ENV=production');
  });

  it('keeps its keys and settings in the working directory, out of version control', async () => {
    const first = await start('--port', '0', '--callback-url', 'http://127.0.0.1:9/callbacks');
    expect(first.output()).toContain(`are kept in ${join('.payment-service-sandbox', 'state.sqlite')}.`);
    await first.stop('SIGINT');
    expect(await readFile(join(workingDirectory, '.payment-service-sandbox', '.gitignore'), 'utf8')).toBe(
      '*\n',
    );
    const second = await start('--port', '0');
    expect(second.keys).toEqual(first.keys);
    const answer = await fetch(`${second.url}/sandbox/settings`, { headers: second.keys });
    expect(JSON.parse(await answer.text()).data).toMatchObject({
      callback_url: 'http://127.0.0.1:9/callbacks',
    });
    const { code, stderr } = await runCommand(['--port', '0', '--seed', 'another']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('The file is in use by another sandbox.')]);
  });

  it('--memory keeps nothing', async () => {
    const first = await start('--port', '0', '--memory');
    const second = await start('--port', '0', '--memory');
    expect(second.keys).not.toEqual(first.keys);
  });

  it('takes its defaults from options', async () => {
    const { url, keys } = await start(
      '--port',
      '0',
      '--misbehave',
      '{"duplicate":2}',
      '--retry',
      '{"max_attempts":1}',
    );
    const answer = await fetch(`${url}/sandbox/settings`, { headers: keys });
    expect(JSON.parse(await answer.text()).data).toMatchObject({
      misbehave: { duplicate: 2 },
      retry: { max_attempts: 1 },
    });
  });

  it('package.json offers it from src in the workspace, and from dist when published', async () => {
    const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
    const { bin, publishConfig } = JSON.parse(text);
    expect(bin).toEqual({ 'payment-service-sandbox': './src/command.ts' });
    expect(publishConfig.bin).toEqual({ 'payment-service-sandbox': './dist/command.js' });
  });
});
