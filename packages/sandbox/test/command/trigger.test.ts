/** `trigger` and `resend`, which talk to a sandbox that runs. */
import { describe, expect, test } from 'vitest';
import { freePort } from '../../../../vitest.shared.ts';
import { type RunOptions, runCommand, runOnTerminal, startCommand } from '../support/command.ts';
import { useStage } from '../support/stage.ts';

const stage = useStage();
/** A sandbox in a folder of its own, whose keys the other commands find there. */
const startSandbox = () =>
  startCommand(['--port', '0', '--callback-url', stage.merchant.url, '--retry', '{"preset":"none"}']);
const trigger = (options: RunOptions, ...args: string[]) => runCommand(['trigger', ...args], options);
const KEYS = { PUBLIC_KEY: 'SANDBOXp', SECRET_KEY: 'SANDBOXs' };
const saying = (code: number, words: string) => ({ code, stderr: expect.stringContaining(words) });

describe('payment-service-sandbox trigger', () => {
  test('finds the sandbox and the keys of its folder, and prints the outcome and its reason', async () => {
    const { cwd, output } = await startSandbox();
    const { code, stdout, stderr } = await trigger({ cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const part of [`to ${stage.merchant.url}`, '200 in ', 'The callback was accepted.'])
      expect(stdout).toContain(part);
    expect(stdout).not.toContain('\u001B');
    // The misbehaviour that start suggests.
    const [, suggested = ''] = /npx payment-service-sandbox (trigger .+)/.exec(output()) ?? [];
    const forged = await runCommand(suggested.trim().split(' '), { cwd });
    expect(forged).toMatchObject({ code: 0, stdout: expect.stringContaining('(forged amount)') });
    expect(stage.payloads()).toMatchObject([
      { merchant_reference: 'ORD-1001', request_amount: 500 },
      { request_amount: 5_000_000 },
    ]);
  });

  test('sets fields of the collection and of the callback, and combines misbehaviour', async () => {
    const { cwd } = await startSandbox();
    const set = ['amount=700', 'merchant_reference=7', 'transaction_status=REVERSED', 'note={"a":1}'];
    const misbehave = ['--misbehave', 'duplicate', '--misbehave', 'forged_amount=9'];
    const { code, stdout } = await trigger(
      { cwd },
      ...set.flatMap((one) => ['--set', one]),
      ...misbehave,
      '--json',
    );
    expect(code).toBe(0);
    const { transaction, deliveries } = JSON.parse(stdout);
    expect(transaction).toMatchObject({ merchant_reference: '7', request_amount: 700 });
    expect(deliveries).toMatchObject([
      { attempts: [{ outcome: { tone: 'neutral' } }] },
      { attempts: [{ outcome: { tone: 'good' } }] },
    ]);
    expect(stage.payloads()).toMatchObject([
      { merchant_reference: '7', transaction_status: 'REVERSED', request_amount: 9, note: { a: 1 } },
      { merchant_reference: '7', request_amount: 700 },
    ]);
  });

  test('exits with 1 if the receiver accepts a bad signature or is unreachable, and says so when a callback is due later', async () => {
    const { cwd } = await startSandbox();
    const codeOf = async (...args: string[]) => (await trigger({ cwd }, ...args)).code;
    expect(await codeOf('--misbehave', 'bad_signature')).toBe(1);
    stage.answer(401, '{"error":"unauthorized"}');
    expect(await codeOf('--misbehave', 'bad_signature')).toBe(0);
    const late = await trigger({ cwd }, '--misbehave', 'late_ms=86400000');
    expect(late).toMatchObject({ code: 0, stdout: expect.stringContaining('not sent yet') });
    expect(stage.merchant.received).toHaveLength(2);
    const unused = await trigger({ cwd }, '--to', `http://127.0.0.1:${await freePort()}/payments/callbacks`);
    expect(unused).toMatchObject({ code: 1, stdout: expect.stringMatching(/ECONNREFUSED|refused/) });
  });

  test('reads keys from the environment or a file, and never from arguments', async () => {
    const { url, keys } = await startSandbox();
    const env = { PUBLIC_KEY: keys['public-key'] ?? '', SECRET_KEY: keys['secret-key'] ?? '' };
    const to = ['--sandbox', url];
    expect((await trigger({ env }, ...to)).code).toBe(0);
    expect(await trigger({}, ...to)).toMatchObject(saying(2, 'No keys were found. Run this in the folder'));
    const wrong = await trigger({ env: { ...env, SECRET_KEY: 'SANDBOXother' } }, ...to);
    expect(wrong).toMatchObject(saying(1, 'refuses the keys of the environment'));
    const argument = await trigger({}, '--secret-key', 'SANDBOXSECRET');
    expect(argument).toMatchObject(saying(2, 'unknown option'));
  });

  test('never sends the keys of a real account', async () => {
    const env = { PUBLIC_KEY: 'pk-live-1', SECRET_KEY: 'sk-live-1' };
    const ended = await trigger({ env }, '--sandbox', new URL(stage.merchant.url).origin);
    expect(ended).toMatchObject(saying(2, 'PUBLIC_KEY of the environment is not a sandbox key'));
    expect(ended.stderr).not.toContain('live');
    expect(stage.merchant.received).toEqual([]);
  });

  test('says so when no sandbox answers, and when another server does', async () => {
    const free = `http://127.0.0.1:${await freePort()}`;
    const gone = await trigger({ env: KEYS }, '--sandbox', free);
    expect(gone).toMatchObject(saying(1, `No sandbox answers at ${free}.`));
    const { origin } = new URL(stage.merchant.url);
    const other = await trigger({ env: KEYS }, '--sandbox', origin);
    expect(other).toMatchObject(saying(1, `The server at ${origin} is not a sandbox.`));
  });

  test.each([
    [['trigger', '--set', 'amount'], '--set needs field=value'],
    [['trigger', '--set', 'Currency=UGX'], '--set does not know "Currency". Did you mean currency?'],
    [['trigger', '--set', 'status=FAILED'], 'Did you mean transaction_status?'],
    [['resend', 'x'], 'It must be the number of a delivery'],
    [['resend'], "missing required argument 'id'"],
  ])('%j is wrong usage: exit code 2', async (args, says) => {
    const ended = await runCommand(args, { env: KEYS });
    expect(ended).toEqual({ stdout: '', ...saying(2, says) });
  });

  test('threat A47: escapes characters of an answer that could rewrite a terminal or hide output', async () => {
    const hidden = 'A\u001B[2J\u009B\u202E\u2066\u200B\uFEFF\u2028\u{E0041}';
    stage.answer(500, hidden);
    const { cwd } = await startSandbox();
    const { stdout } = await runOnTerminal(['trigger'], { cwd });
    expect(stdout).toContain('A\\u{1b}[2J\\u{9b}\\u{202e}\\u{2066}\\u{200b}');
    const json = await trigger({ cwd }, '--json');
    expect(json.stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
    expect(JSON.parse(json.stdout).deliveries[0].attempts[0].response.body).toBe(hidden);
  });
});

test('payment-service-sandbox resend sends a delivery again, and reports the outcome', async () => {
  const { cwd } = await startSandbox();
  const [{ id }] = JSON.parse((await trigger({ cwd }, '--json')).stdout).deliveries;
  const again = await runCommand(['resend', String(id)], { cwd });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining(`sent again after ${id}`) });
  const [first, second] = stage.merchant.received.map(({ body }) => body);
  expect([stage.merchant.received.length, second]).toEqual([2, first]);
  const missing = await runCommand(['resend', '999999'], { cwd });
  expect(missing).toMatchObject(saying(1, 'There is no such delivery.'));
});
