/** `trigger` and `resend`, which talk to a sandbox that runs. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../../vitest.shared.ts';
import { runCommand, runOnTerminal, startCommand } from '../support/command.ts';
import { type Merchant, startMerchant } from '../support/merchant.ts';

let merchant: Merchant;
beforeEach(async () => {
  merchant = await startMerchant();
});
afterEach(() => merchant.close());

/** A sandbox in a folder of its own, whose keys the other commands find there. */
const startSandbox = (...args: string[]) =>
  startCommand(['--port', '0', '--callback-url', merchant.url, '--retry', '{"preset":"none"}', ...args]);

describe('payment-service-sandbox trigger', () => {
  test('finds the sandbox and the keys of its folder, and prints the outcome and its reason', async () => {
    const { cwd } = await startSandbox();
    const { code, stdout, stderr } = await runCommand(['trigger'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`to ${merchant.url}`);
    expect(stdout).toContain('200 in ');
    expect(stdout).toContain('The callback was accepted.');
    expect(stdout).not.toContain('\u001B');
    expect(merchant.received[0]?.data.payload).toMatchObject({
      merchant_reference: 'ORD-1001',
      request_amount: 500,
    });
  });

  test('the misbehaviour that start suggests is accepted by trigger', async () => {
    const { cwd, output } = await startSandbox();
    const [, suggested = ''] = /npx payment-service-sandbox (trigger .+)/.exec(output()) ?? [];
    const { code, stdout } = await runCommand(suggested.trim().split(' '), { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain('(forged amount)');
    expect(merchant.received[0]?.data.payload).toMatchObject({ request_amount: 5_000_000 });
  });

  test('sets fields of the collection and of the callback, and combines misbehaviour', async () => {
    const { cwd } = await startSandbox();
    const set = ['amount=700', 'merchant_reference=7', 'transaction_status=REVERSED', 'note={"a":1}'];
    const { code, stdout } = await runCommand(
      [
        'trigger',
        ...set.flatMap((each) => ['--set', each]),
        ...['--misbehave', 'duplicate', '--misbehave', 'forged_amount=9', '--json'],
      ],
      { cwd },
    );
    expect(code).toBe(0);
    const { transaction, deliveries } = JSON.parse(stdout);
    expect(transaction).toMatchObject({ merchant_reference: '7', request_amount: 700 });
    expect(deliveries).toMatchObject([
      { attempts: [{ outcome: { tone: 'neutral' } }] },
      { attempts: [{ outcome: { tone: 'good' } }] },
    ]);
    expect(merchant.received.map(({ data: { payload } }) => payload)).toMatchObject([
      { merchant_reference: '7', transaction_status: 'REVERSED', request_amount: 9, note: { a: 1 } },
      { merchant_reference: '7', request_amount: 700 },
    ]);
  });

  test('exits with 1 if the receiver accepts a bad signature or is unreachable', async () => {
    const { cwd } = await startSandbox();
    const accepted = await runCommand(['trigger', '--misbehave', 'bad_signature'], { cwd });
    expect(accepted.code).toBe(1);
    merchant.answer = (response) => response.writeHead(401).end('{"error":"unauthorized"}');
    const refused = await runCommand(['trigger', '--misbehave', 'bad_signature'], { cwd });
    expect(refused.code).toBe(0);
    const unused = `http://127.0.0.1:${await freePort()}/payments/callbacks`;
    const { code, stdout } = await runCommand(['trigger', '--to', unused], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/ECONNREFUSED|refused/);
  });

  test('says so when a callback is due after its timeout', async () => {
    const { cwd } = await startSandbox();
    const { code, stdout } = await runCommand(['trigger', '--misbehave', 'late_ms=86400000'], { cwd });
    expect({ code, received: merchant.received }).toEqual({ code: 0, received: [] });
    expect(stdout).toContain('not sent yet');
  });

  test('reads keys from the environment or a file, and never from arguments', async () => {
    const { url, keys } = await startSandbox();
    const env = { PUBLIC_KEY: keys['public-key'] ?? '', SECRET_KEY: keys['secret-key'] ?? '' };
    expect((await runCommand(['trigger', '--sandbox', url], { env })).code).toBe(0);
    const none = await runCommand(['trigger', '--sandbox', url]);
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No keys were found. Run this in the folder'),
    });
    const wrong = await runCommand(['trigger', '--sandbox', url], {
      env: { ...env, SECRET_KEY: 'SANDBOXother' },
    });
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('refuses the keys of the environment'),
    });
    const argument = await runCommand(['trigger', '--secret-key', 'SANDBOXSECRET']);
    expect(argument).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown option') });
  });

  test('never sends the keys of a real account', async () => {
    const env = { PUBLIC_KEY: 'pk-live-1', SECRET_KEY: 'sk-live-1' };
    const { code, stderr } = await runCommand(['trigger', '--sandbox', new URL(merchant.url).origin], {
      env,
    });
    expect({ code, received: merchant.received }).toEqual({ code: 2, received: [] });
    expect(stderr).toContain('PUBLIC_KEY of the environment is not a sandbox key');
    expect(stderr).not.toContain('live');
  });

  test('says so when no sandbox answers, and when another server does', async () => {
    const env = { PUBLIC_KEY: 'SANDBOXp', SECRET_KEY: 'SANDBOXs' };
    const free = `http://127.0.0.1:${await freePort()}`;
    const gone = await runCommand(['trigger', '--sandbox', free], { env });
    expect(gone).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`No sandbox answers at ${free}.`),
    });
    const { origin } = new URL(merchant.url);
    const other = await runCommand(['trigger', '--sandbox', origin], { env });
    expect(other).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`The server at ${origin} is not a sandbox.`),
    });
  });

  test.each([
    [['trigger', '--set', 'amount'], '--set needs field=value'],
    [['trigger', '--set', 'amonut=5'], '--set does not know "amonut". Did you mean amount?'],
    [['trigger', '--set', 'Currency=UGX'], 'Did you mean currency?'],
    [['trigger', '--set', 'merchant_refrence=1'], 'Did you mean merchant_reference?'],
    [['trigger', '--set', 'status=FAILED'], 'Did you mean transaction_status?'],
    [['trigger', '--misbehave', 'forged'], 'Did you mean forged_amount? Known names: forged_amount, '],
    [['trigger', '--misbehave', '{'], '--misbehave must be a JSON object'],
    [['resend', 'x'], 'It must be the number of a delivery'],
    [['resend'], "missing required argument 'id'"],
  ])('%j is wrong usage: exit code 2', async (args, says) => {
    const env = { PUBLIC_KEY: 'SANDBOXp', SECRET_KEY: 'SANDBOXs' };
    const { code, stdout, stderr } = await runCommand(args, { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  test('threat A47: escapes characters of an answer that could rewrite a terminal or hide output', async () => {
    const hidden = 'A\u001B[2J\u009B\u202E\u2066\u200B\uFEFF\u2028\u{E0041}';
    merchant.answer = (response) => response.writeHead(500).end(hidden);
    const { cwd } = await startSandbox();
    const { stdout } = await runOnTerminal(['trigger'], { cwd });
    expect(stdout).toContain('A\\u{1b}[2J\\u{9b}\\u{202e}\\u{2066}\\u{200b}');
    const json = await runCommand(['trigger', '--json'], { cwd });
    expect(json.stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
    expect(JSON.parse(json.stdout).deliveries[0].attempts[0].response.body).toBe(hidden);
  });
});

describe('payment-service-sandbox resend', () => {
  test('sends a delivery again, and reports the outcome', async () => {
    const { cwd } = await startSandbox();
    const { stdout } = await runCommand(['trigger', '--json'], { cwd });
    const [{ id }] = JSON.parse(stdout).deliveries;
    const again = await runCommand(['resend', String(id)], { cwd });
    expect(again.code).toBe(0);
    expect(again.stdout).toContain(`sent again after ${id}`);
    expect(merchant.received.map(({ body }) => body)).toEqual([
      merchant.received[0]?.body,
      merchant.received[0]?.body,
    ]);
    expect(await runCommand(['resend', '999999'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no such delivery.'),
    });
  });
});
