/** `trigger`, `resend` and `check`, which talk to a running sandbox. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { freePort } from '../../../../vitest.shared.ts';
import { type RunOptions, runCommand, runOnTerminal, startCommand } from '../support/command.ts';
import { useStage } from '../support/stage.ts';

const stage = useStage({ retry: { preset: 'none' } });
const saying = (code: number, words: string) => ({ code, stderr: expect.stringContaining(words) });
const KEYS = { PUBLIC_KEY: 'SANDBOXp', SECRET_KEY: 'SANDBOXs' };

/** The environment that directs a command to the stage's sandbox. */
async function running() {
  const { url: BASE_URL } = await stage.sandbox.listen();
  const { publicKey: PUBLIC_KEY, secretKey: SECRET_KEY } = stage.sandbox.account;
  return { BASE_URL, PUBLIC_KEY, SECRET_KEY };
}
const trigger = (env: RunOptions['env'] = {}, ...args: string[]) => runCommand(['trigger', ...args], { env });

test('trigger finds the sandbox and the keys of its folder, and prints the outcome and its reason', async () => {
  const { cwd, output } = await startCommand(['--port', '0', '--callback-url', stage.merchant.url]);
  const { code, stdout, stderr } = await runCommand(['trigger'], { cwd });
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

test('trigger sets fields of the collection and of the callback, and combines misbehaviour', async () => {
  const set = ['amount=700', 'merchant_reference=7', 'transaction_status=REVERSED', 'note={"a":1}'];
  const fields = set.flatMap((one) => ['--set', one]);
  const misbehave = ['--misbehave', 'duplicate', '--misbehave', 'forged_amount=9'];
  const { code, stdout } = await trigger(await running(), ...fields, ...misbehave, '--json');
  expect(code).toBe(0);
  const { transaction, deliveries } = JSON.parse(stdout);
  expect(transaction).toMatchObject({ merchant_reference: '7', request_amount: 700 });
  expect(deliveries).toHaveLength(2);
  expect(stage.payloads()).toMatchObject([
    { merchant_reference: '7', transaction_status: 'REVERSED', request_amount: 9, note: { a: 1 } },
    { merchant_reference: '7', request_amount: 700 },
  ]);
});

test('trigger completes a pending payment of the program by its reference, then sends its callback again, changed', async () => {
  const env = await running();
  const pending = { merchant_reference: 'ORD-7', amount: 900, mode: 'pending' } as const;
  const { transaction } = stage.collect(pending);
  expect(await trigger(env, 'ORD-7', '--misbehave', 'duplicate')).toMatchObject(
    saying(2, 'ORD-7 is pending'),
  );
  expect(await trigger(env, 'ORD-7', '--set', 'amount=5')).toMatchObject(
    saying(2, 'its amount cannot be set'),
  );
  expect(stage.merchant.received).toHaveLength(0);
  const completed = JSON.parse((await trigger(env, 'ORD-7', '--json')).stdout);
  expect(completed.transaction).toMatchObject({ id: transaction.id, transaction_status: 'COMPLETED' });
  const forged = JSON.parse((await trigger(env, 'ORD-7', '--misbehave', 'forged_amount=1', '--json')).stdout);
  expect(forged.deliveries).toMatchObject([
    { transaction_id: transaction.id, misbehaves: ['composed from 1001', 'forged amount'] },
  ]);
  expect(await trigger(env, 'ORD-8')).toMatchObject({ code: 0 });
  expect(stage.payloads()).toMatchObject([
    { merchant_reference: 'ORD-7', request_amount: 900 },
    { merchant_reference: 'ORD-7', request_amount: 1 },
    { merchant_reference: 'ORD-8', request_amount: 500 },
  ]);
});

test('reverse takes back a payment by its reference, under names that can be set, and refuses a reference that no payment has', async () => {
  const env = await running();
  const reverse = (...args: string[]) => runCommand(['reverse', ...args], { env });
  expect(await reverse('ORD-7')).toMatchObject(
    saying(1, 'No payment of this sandbox has the reference ORD-7.'),
  );
  await trigger(env, 'ORD-7');
  expect(await reverse('ORD-7')).toMatchObject({ code: 0, stdout: expect.stringContaining('REVERSED') });
  await reverse('ORD-7', '--event', 'refund.made', '--status', 'REFUNDED');
  const [paid, reversed, refunded] = stage.merchant.received.map(({ body }) => JSON.parse(body));
  expect(reversed).toMatchObject({
    event: 'transaction.reversed',
    payload: { transaction_status: 'REVERSED' },
  });
  expect(refunded).toMatchObject({ event: 'refund.made', payload: { transaction_status: 'REFUNDED' } });
  expect(refunded.payload.internal_reference).toBe(paid.payload.internal_reference);
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  for (const flag of ['--version', '-V'])
    expect(await runCommand([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test('trigger exits with 1 if the receiver accepts a bad signature, and says so when a callback is due later', async () => {
  const env = await running();
  const codeOf = async (...args: string[]) => (await trigger(env, ...args)).code;
  expect(await codeOf('--misbehave', 'bad_signature')).toBe(1);
  stage.answer(401, '{"error":"unauthorized"}');
  expect(await codeOf('--misbehave', 'bad_signature')).toBe(0);
  const late = await trigger(env, '--misbehave', 'late_ms=86400000');
  expect(late).toMatchObject({ code: 0, stdout: expect.stringContaining('not sent yet') });
  expect(stage.merchant.received).toHaveLength(2);
});

test('trigger reads keys from the environment or a file, never from arguments, and never sends those of a real account', async () => {
  const env = await running();
  expect((await trigger(env)).code).toBe(0);
  expect(await trigger()).toMatchObject(saying(2, 'No keys were found. Run this in the folder'));
  const wrong = await trigger({ ...env, SECRET_KEY: 'SANDBOXother' });
  expect(wrong).toMatchObject(saying(1, 'refuses the keys of the environment'));
  const argument = await trigger(env, '--secret-key', 'SANDBOXSECRET');
  expect(argument).toMatchObject(saying(2, 'unknown option'));
  const BASE_URL = new URL(stage.merchant.url).origin;
  const real = await trigger({ BASE_URL, PUBLIC_KEY: 'pk-live-1', SECRET_KEY: 'sk-live-1' });
  expect(real).toMatchObject(saying(2, 'PUBLIC_KEY of the environment is not a sandbox key'));
  expect(real.stderr).not.toContain('live');
  expect(stage.merchant.received).toHaveLength(1);
});

test('trigger says so when no sandbox answers, and when another server does', async () => {
  const free = `http://127.0.0.1:${await freePort()}`;
  const gone = await trigger({ ...KEYS, BASE_URL: free });
  expect(gone).toMatchObject(saying(1, `No sandbox answers at ${free}.`));
  const { origin } = new URL(stage.merchant.url);
  const other = await trigger({ ...KEYS, BASE_URL: origin });
  expect(other).toMatchObject(saying(1, `The server at ${origin} is not a sandbox.`));
});

test('threat A47: trigger escapes characters of an answer that could rewrite a terminal or hide output', async () => {
  const hidden = 'A\u001B[2J\u009B\u202E\u2066\u200B\uFEFF\u2028\u{E0041}';
  stage.answer(500, hidden);
  const env = await running();
  const { stdout } = await runOnTerminal(['trigger'], { env });
  expect(stdout).toContain('A\\u{1b}[2J\\u{9b}\\u{202e}\\u{2066}\\u{200b}');
  const json = await trigger(env, '--json');
  expect(json.code).toBe(1);
  expect(json.stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
  expect(JSON.parse(json.stdout).deliveries[0].attempts[0].response.body).toBe(hidden);
});

test('resend sends a delivery again, and reports the outcome', async () => {
  const env = await running();
  await stage.deliver();
  const again = await runCommand(['resend', '1'], { env });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('sent again after 1') });
  const [first, second] = stage.merchant.received.map(({ body }) => body);
  expect([stage.merchant.received.length, second]).toEqual([2, first]);
  const missing = await runCommand(['resend', '999999'], { env });
  expect(missing).toMatchObject(saying(1, 'There is no such delivery.'));
});

test('check prints a line for each case and what to do, and exits with 1 when one failed', async () => {
  stage.open({ callbackUrl: undefined });
  const env = await running();
  expect(await runCommand(['check'], { env })).toMatchObject(saying(1, 'callback_url: is required'));
  const { code, stdout, stderr } = await runCommand(['check', stage.merchant.url], { env });
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(/^Check of http/);
  expect(stdout).toMatch(/^ {2}pass {2}A genuine callback +2xx +200$/m);
  expect(stdout).toMatch(/^ {2}fail {2}Signed with another key +400, 401 or 403 +200$/m);
  expect(stdout).toContain('        Verify the signature before anything else, and answer 401');
  expect(stdout).toMatch(/11 of 22 cases failed\.\n$/);
  expect(stdout).not.toContain('\u001B');
  expect(stage.merchant.received).toHaveLength(22);
});
