import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSandbox } from '../../src/index.ts';
import { exchange } from '../support/api.ts';
import { type Command, runCommand, runProgram, startCommand } from '../support/command.ts';
import { emptyFolder, modesIn, OWN_FILE, OWN_FOLDER } from '../support/folders.ts';
import { useStage } from '../support/stage.ts';

const stage = useStage();
const { account } = createSandbox({ seed: 'docs' });
const start = (args: readonly string[] = [], options?: Parameters<typeof startCommand>[1]) =>
  startCommand(['--port', '0', ...args], options);
const post = ({ url, keys }: Command, body: string) => {
  const headers = { ...keys, 'content-type': 'application/json' };
  return fetch(`${url}/sandbox/collections`, { method: 'POST', headers, body });
};

test('start prints its address, the keys and a command to try, and that command works', async () => {
  const misbehave = ['--misbehave', '{"duplicate":2}', '--retry', '{"max_attempts":1}'];
  const command = await start(['--seed', 'docs', ...misbehave]);
  const { url, keys, output } = command;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const parts = ['curl', '/data/payment-providers', '/sandbox/collections', 'Ctrl-C'];
  for (const part of [...Object.values(account), ...parts]) expect(output()).toContain(part);
  const [, body = ''] = /-d '(\{.*\})'/.exec(output()) ?? [];
  expect((await post(command, body)).status).toBe(201);
  expect(await (await fetch(url)).text()).toContain(account.signingKey);
  // Its options are the defaults of the sandbox.
  const settings = await (await fetch(`${url}/sandbox/settings`, { headers: keys })).text();
  const defaults = { misbehave: { duplicate: 2 }, retry: { max_attempts: 1 } };
  expect(JSON.parse(settings).data).toMatchObject(defaults);
});

test('start --memory leaves nothing in the folder, and SIGTERM stops it with exit code 0', async () => {
  const { url, cwd, stop } = await start(['--memory']);
  expect(await readdir(cwd)).toEqual([]);
  expect((await fetch(url)).status).toBe(200);
  expect(await stop('SIGTERM')).toBe(0);
});

test('threat A46: start keeps its keys in the folder across restarts, in files that only the owner can read, and corrects the permissions of an earlier version', async () => {
  const { cwd, keys, stop } = await start();
  const busy = expect.stringMatching(/The file \S+ is in use by another sandbox\./);
  expect(await runCommand(['--port', '0'], { cwd })).toMatchObject({ code: 1, stderr: busy });
  const own = join(cwd, '.payment-service-sandbox');
  const modes = async () => Object.entries(await modesIn(own)).filter(([name]) => name !== '.gitignore');
  const expected = await modes();
  expect(expected).toHaveLength(4);
  for (const [name, mode] of expected) expect(mode, name).toBe(name === '.' ? OWN_FOLDER : OWN_FILE);
  await stop('SIGINT');
  await chmod(own, 0o755);
  for (const name of await readdir(own)) await chmod(join(own, name), 0o644);
  const again = await start([], { cwd });
  expect(await modes()).toEqual(expected);
  expect(again.keys).toEqual(keys);
  expect(again.output()).toContain(`are kept in ${join('.payment-service-sandbox', 'state.sqlite')}.`);
  // Excluded from version control.
  expect(await readFile(join(own, '.gitignore'), 'utf8')).toBe('*\n');
});

test('start --keys-file adds the keys to the file, readable by its owner only', async () => {
  const cwd = emptyFolder();
  const path = join(cwd, '.env');
  await writeFile(path, 'PORT=3000\nSIGNING_KEY=old\nexport PUBLIC_KEY=old\n\n', { mode: 0o644 });
  const { url, output } = await start(['--seed', 'docs', '--keys-file', '.env'], { cwd });
  const { publicKey, secretKey, signingKey } = account;
  expect(await readFile(path, 'utf8')).toBe(
    `PORT=3000\nBASE_URL=${url}\nPUBLIC_KEY=${publicKey}\nSECRET_KEY=${secretKey}\nSIGNING_KEY=${signingKey}\n`,
  );
  expect((await modesIn(cwd))['.env']).toBe(OWN_FILE);
  expect(output()).toContain('The keys are also in .env.');
});

test('start --endpoints answers the endpoints of a file, and the made-up ones by name', async () => {
  const cwd = emptyFolder();
  const endpoint = { path: '/transfers', starts: 'transfer', members: { amount: 'sum', currency: 'of' } };
  await writeFile(join(cwd, 'own.json'), JSON.stringify([endpoint]));
  for (const [file, path, status] of [
    ['own.json', '/transfers', 422],
    ['example', '/example/payouts', 400],
  ] as const) {
    const { url, keys, output } = await start(['--memory', '--endpoints', file], { cwd });
    const headers = { ...keys, 'content-type': 'application/json' };
    const body = '{"sum":1,"of":"UGX"}';
    expect(output()).toContain(`  POST ${path} starts a `);
    expect((await fetch(url + path, { method: 'POST', headers, body })).status).toBe(status);
  }
  const { output } = await start(['--memory', '--endpoints', 'example'], { cwd });
  expect(output()).toContain('payer.phone (account)');
  const [curl = ''] = /curl -X POST [\s\S]*?\}'$/m.exec(output()) ?? [];
  const { stdout } = await runProgram('/bin/sh', ['-c', curl]);
  expect(JSON.parse(stdout)).toMatchObject({ code: 201, data: { state: 'COMPLETED' } });
  await writeFile(join(cwd, 'wrong.json'), '[{"path":"/data"}]');
  const wrong = await runCommand(['--memory', '--port', '0', '--endpoints', 'wrong.json'], { cwd });
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('endpoints[0].starts: ') });
});

test('start --help prints the usage', async () => {
  const { code, stdout, stderr } = await runCommand(['start', '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const options =
    'port host file memory keys-file seed callback-url redirect-url allow-host misbehave retry endpoints';
  for (const option of options.split(' ')) expect(stdout).toContain(`--${option}`);
});

test('threat A27: start --host beyond loopback prints the risk, and --allow-host adds a name that it answers under', async () => {
  // A loopback address that the sandbox does not recognise as one, so that the test opens nothing to the network.
  const { url, output } = await start(['--host', '127.1', '--allow-host', 'sandbox']);
  expect(output()).toContain('anyone on the network can read its keys and move the simulated money.');
  const statusUnder = async (host: string) =>
    (await exchange(new URL(url).port, 'GET', '/', { host })).status;
  expect([await statusUnder('sandbox'), await statusUnder('example.com')]).toEqual([200, 421]);
});

test('start reports a busy port with a clear message', async () => {
  const { port } = new URL(stage.merchant.url);
  const stderr = `payment-service-sandbox: Port ${port} on 127.0.0.1 is taken by another program. Choose another port, or 0 for any free one.\n`;
  expect(await runCommand(['--port', port])).toMatchObject({ code: 1, stderr });
});

const nowhere = '/nowhere/at/all.env';
const WRONG: readonly (readonly [exitCode: number, args: readonly string[], says: string])[] = [
  [2, ['--port', '65536'], 'It must be a number from 0 to 65535.'],
  [2, ['--allow-host', 'http://shop'], '--allow-host: "http://shop" never matches.'],
  [1, ['--file', nowhere], `The file ${nowhere} could not be opened.`],
  [
    1,
    ['--memory', '--keys-file', nowhere],
    `The keys could not be written to ${nowhere}: no such file or directory.`,
  ],
  [1, ['--memory', '--port', '0', '--', 'no-such-one'], 'no-such-one could not be started: there is no'],
  [2, ['--misbehave', '{'], '--misbehave must be a JSON object'],
  [2, ['--misbehave', 'explode'], '--misbehave does not know "explode". Known names: forged_amount, '],
  [2, ['--misbehave', 'forged'], 'Did you mean forged_amount? Known names: '],
  [2, ['--retry', '[]'], '--retry must be a JSON object'],
  [2, ['--endpoints', nowhere], `--endpoints: ${nowhere} could not be read: no such file or directory.`],
  [2, ['--endpoints', '/dev/null'], '--endpoints: /dev/null must be a JSON list of endpoints.'],
  [2, ['--memory', '--file', 'x'], "option '--memory' cannot be used with option '--file <path>'"],
  [2, ['--redirect-url', 'mailto:x'], '--redirect-url must be an http or https address.'],
  [2, ['triger'], "unknown command 'triger'\n(Did you mean trigger?)"],
  [2, ['trigger', '--set', 'amount'], '--set needs field=value'],
  [2, ['trigger', '--set', 'Currency=UGX'], '--set does not know "Currency". Did you mean currency?'],
  [2, ['resend', 'x'], 'It must be the number of a delivery'],
];
test('wrong arguments are refused with why, on stderr, with exit code 2, and those that do not suit the machine with 1', async () => {
  const env = { PUBLIC_KEY: 'SANDBOXp', SECRET_KEY: 'SANDBOXs' };
  // Side by side: most of the time is the start of Node.
  const all = WRONG.map(async ([, args]) => [args, await runCommand(args, { env })] as const);
  for (const [index, [args, { code, stdout, stderr }]] of (await Promise.all(all)).entries()) {
    const [exitCode, , says = ''] = WRONG[index] ?? [];
    expect({ args, code, stdout }).toEqual({ args, code: exitCode, stdout: '' });
    for (const part of ['payment-service-sandbox: ', says]) expect(stderr).toContain(part);
    expect(stderr).not.toContain('    at ');
  }
});

test('threat A45: it does not start with NODE_ENV=staging, as its keys do not', async () => {
  const stderr = expect.stringMatching(/NODE_ENV=staging[\s\S]*run it with NODE_ENV=development/);
  const ended = await runCommand(['--port', '0'], { env: { NODE_ENV: 'staging' } });
  expect(ended).toMatchObject({ code: 2, stderr });
});

test.each([
  ['', 'development'],
  ['test', 'test'],
])(
  'threat A27: with NODE_ENV %j it starts its program with NODE_ENV %j, with which that accepts its keys',
  async (given, expected) => {
    const program = ['--', process.execPath, '-p', 'process.env.NODE_ENV'];
    const ended = await runCommand(['--port', '0', '--memory', ...program], { env: { NODE_ENV: given } });
    expect(ended).toMatchObject({ code: 0, stdout: `${expected}\n` });
  },
);
