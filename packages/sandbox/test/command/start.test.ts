import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSandbox } from '../../src/index.ts';
import { collection } from '../support/api.ts';
import { emptyFolder, runCommand, startCommand } from '../support/command.ts';
import { startMerchant } from '../support/merchant.ts';

describe('payment-service-sandbox', () => {
  test('prints its address, the keys and a command to try, and that command works', async () => {
    const { url, keys, output } = await startCommand(['--port', '0', '--seed', 'docs']);
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

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s stops it with exit code 0, and the port is free again',
    async (signal) => {
      const command = await startCommand(['--port', '0']);
      expect((await fetch(command.url)).status).toBe(200);
      expect(await command.stop(signal)).toBe(0);
      const { port } = new URL(command.url);
      const again = await startCommand(['--port', port]);
      expect(again.url).toBe(command.url);
    },
  );

  test('SIGINT stops it immediately while callbacks wait, and lets the one in flight finish', async () => {
    const merchant = await startMerchant();
    let answer: (() => void) | undefined;
    merchant.answer = (response) => {
      answer = () => response.end();
    };
    const { url, keys, stop } = await startCommand(['--port', '0', '--callback-url', merchant.url]);
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

  test('keeps its keys in the folder, so that a restart has the same keys', async () => {
    const { cwd, keys, stop } = await startCommand(['--port', '0']);
    expect(await runCommand(['--port', '0'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The file is in use by another sandbox.'),
    });
    await stop('SIGINT');
    const again = await startCommand(['--port', '0'], { cwd });
    expect(again.keys).toEqual(keys);
    expect(again.output()).toContain(`are kept in ${join('.payment-service-sandbox', 'state.sqlite')}.`);
    // Out of version control.
    expect(await readFile(join(cwd, '.payment-service-sandbox', '.gitignore'), 'utf8')).toBe('*\n');
  });

  test('threat A46: only the owner can read its files, and the permissions of a folder of an earlier version are corrected', async () => {
    // Windows has no such modes.
    const [folder, file] = process.platform === 'win32' ? ['666', '666'] : ['700', '600'];
    const cwd = emptyFolder();
    const own = join(cwd, '.payment-service-sandbox');
    const modes = async (): Promise<string[]> => {
      const names = (await readdir(own)).filter((name) => name !== '.gitignore').sort();
      const all = [own, ...names.map((name) => join(own, name))];
      return Promise.all(all.map(async (path) => ((await stat(path)).mode & 0o777).toString(8)));
    };
    const { stop } = await startCommand(['--port', '0'], { cwd });
    expect(await modes()).toEqual([folder, file, file, file]);
    await stop('SIGINT');
    await chmod(own, 0o755);
    for (const name of await readdir(own)) await chmod(join(own, name), 0o644);
    await startCommand(['--port', '0'], { cwd });
    expect(await modes()).toEqual([folder, file, file, file]);
  });

  test('--memory leaves nothing in the folder', async () => {
    const { cwd } = await startCommand(['--port', '0', '--memory']);
    expect(await readdir(cwd)).toEqual([]);
  });

  test('--keys-file adds the keys to the file, readable by its owner only', async () => {
    const cwd = emptyFolder();
    const path = join(cwd, '.env');
    await writeFile(path, 'PORT=3000\nSIGNING_KEY=old\n\n', { mode: 0o644 });
    const { url, output } = await startCommand(['--port', '0', '--seed', 'docs', '--keys-file', '.env'], {
      cwd,
    });
    const { account } = createSandbox({ seed: 'docs' });
    expect(await readFile(path, 'utf8')).toBe(
      `PORT=3000\nBASE_URL=${url}\nPUBLIC_KEY=${account.publicKey}\nSECRET_KEY=${account.secretKey}\nSIGNING_KEY=${account.signingKey}\n`,
    );
    // Windows has no such modes.
    const modes = process.platform === 'win32' ? [] : [(await stat(path)).mode & 0o777];
    expect(modes).toEqual(process.platform === 'win32' ? [] : [0o600]);
    expect(output()).toContain('The keys are also in .env.');
  });

  test('--env-file does the same for an existing file, although Node reads this option too', async () => {
    const cwd = emptyFolder();
    await writeFile(join(cwd, '.env'), '');
    await startCommand(['--port', '0', '--env-file=.env'], { cwd });
    expect(await readFile(join(cwd, '.env'), 'utf8')).toContain('SIGNING_KEY=SANDBOXSIGNING');
  });

  test('--help prints the usage', async () => {
    const { code, stdout, stderr } = await runCommand(['start', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const option of [
      '--port',
      '--host',
      '--file',
      '--memory',
      '--keys-file',
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

  test('threat A27: --host beyond loopback prints the risk, and --allow-host adds a name that it answers under', async () => {
    // An address of loopback that the sandbox does not know as one: the test opens nothing to the network.
    const { url, output } = await startCommand(['--port', '0', '--host', '127.1', '--allow-host', 'sandbox']);
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

  test('a busy port is reported with a clear message', async () => {
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

  test.each([
    [2, ['--port', 'x'], 'It must be a number from 0 to 65535.'],
    [2, ['--port', '65536'], 'It must be a number from 0 to 65535.'],
    [2, ['--host', ''], 'host must not be empty. Leave it out for 127.0.0.1.'],
    [2, ['--host', '192.0.2.1'], '192.0.2.1 is not an address of this computer.'],
    [2, ['--allow-host', 'http://shop'], 'allowedHosts: "http://shop" never matches.'],
    [1, ['--file', '/nowhere/at/all.sqlite'], 'The file could not be opened.'],
    [
      1,
      ['--memory', '--keys-file', '/nowhere/at/all.env'],
      'The keys could not be written to /nowhere/at/all.env.',
    ],
    [2, ['--misbehave', '{'], '--misbehave must be a JSON object'],
    [2, ['--misbehave', '{"explode":true}'], 'misbehave: explode: this field is unknown.'],
    [2, ['--misbehave', 'explode'], '--misbehave does not know "explode". Known names: forged_amount, '],
    [2, ['--misbehave', 'forged'], 'Did you mean forged_amount? Known names: '],
    [2, ['--retry', '[]'], '--retry must be a JSON object'],
    [2, ['--callback-url', 'http://example.com/'], 'callbackUrl must be on this computer'],
    [2, ['--memory', '--file', 'x'], "option '--memory' cannot be used with option '--file <path>'"],
    [2, ['--redirect-url', 'mailto:x'], 'redirectUrl must be an http or https address.'],
    [2, ['--prot', '1'], "unknown option '--prot'\n(Did you mean --port?)"],
    [2, ['extra'], "unknown command 'extra'"],
    [2, ['triger'], "unknown command 'triger'\n(Did you mean trigger?)"],
  ])('exit code %i: %j is refused with why, on stderr', async (exitCode, args, says) => {
    const { code, stdout, stderr } = await runCommand(args);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
    expect(stderr).toContain('payment-service-sandbox: ');
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('    at ');
  });

  test.each(['production', 'staging', 'Production'])(
    'threat A45: does not start with NODE_ENV=%s, as its keys do not',
    async (environment) => {
      const { code, stderr } = await runCommand(['--port', '0'], { env: { NODE_ENV: environment } });
      expect(code).toBe(1);
      expect(stderr).toContain(`NODE_ENV=${environment}`);
      expect(stderr).toContain('run it with NODE_ENV=development');
    },
  );

  test('takes its defaults from its options', async () => {
    const { url, keys } = await startCommand([
      '--port',
      '0',
      '--misbehave',
      '{"duplicate":2}',
      '--retry',
      '{"max_attempts":1}',
    ]);
    const answer = await fetch(`${url}/sandbox/settings`, { headers: keys });
    expect(JSON.parse(await answer.text()).data).toMatchObject({
      misbehave: { duplicate: 2 },
      retry: { max_attempts: 1 },
    });
  });

  test('package.json exports it from src in the workspace, and from dist when published', async () => {
    const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
    const { bin, publishConfig } = JSON.parse(text);
    expect(bin).toEqual({ 'payment-service-sandbox': './src/command/command.ts' });
    expect(publishConfig.bin).toEqual({ 'payment-service-sandbox': './dist/command.js' });
  });
});
