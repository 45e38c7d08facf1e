import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CollectionRequest, SandboxDelivery } from '../src/index.ts';
import { runProgram } from './support/command.ts';
import { emptyFolder } from './support/folders.ts';
import { copied, part, row, rows, textOf } from './support/pages.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage({});
const { show, read, submit } = stage;
const HOUR = 3_600_000;
const listed = async (path: string) => rows(await show(path), path.replace(/^\/(\w+).*/, '$1'));

const deliveryOf = (reference: string): SandboxDelivery => {
  const found = stage.sandbox.deliveries().find(({ body }) => body.includes(`"${reference}"`));
  if (found === undefined) throw new Error(`there is no delivery of ${reference}`);
  return found;
};
const arrived = (): string[] => stage.payloads().map(({ merchant_reference }) => merchant_reference);
/** Presses a button by its label. */
async function press(path: string, label: string): Promise<void> {
  const button = `action="/dashboard/([^"]+)"(?:(?!</form>).)*<button[^>]*>${label}`;
  await submit(new RegExp(button, 's').exec(await show(path))?.[1] ?? 'nothing', {}, path);
}

test.each<[string, Partial<CollectionRequest>]>([
  ['is late', { misbehave: { late_ms: HOUR } }],
  ['is held back until a later callback has been sent', { misbehave: { out_of_order: true } }],
  ['waits for its second attempt', { retry: { preset: 'not-2xx', max_attempts: 2, backoff_ms: HOUR } }],
])('a delivery that %s is sent without the others when its button is pressed', async (_, how) => {
  stage.open({ retry: { preset: 'none' } });
  stage.answer(500);
  stage.collect({ merchant_reference: 'FIRST', misbehave: { late_ms: HOUR } });
  stage.collect({ merchant_reference: 'THIS', ...how });
  stage.collect({ merchant_reference: 'OTHER', misbehave: { late_ms: HOUR } });
  const { id } = deliveryOf('THIS');
  if ('retry' in how) await until(() => deliveryOf('THIS').attempts.length === 1);
  const before = arrived().length;
  await press(`/deliveries/${id}`, 'Send now');
  await until(() => deliveryOf('THIS').attempts.length === before + 1);
  expect(arrived().slice(before)).toEqual(['THIS']);
  expect(['FIRST', 'OTHER'].map((one) => deliveryOf(one).state)).toEqual(['scheduled', 'scheduled']);
  // Control: the button that names all of them sends all.
  await press('/deliveries', 'Send all waiting');
  await stage.sandbox.idle();
  expect(arrived().sort()).toEqual([...Array(before + 1).fill('THIS'), 'FIRST', 'OTHER'].sort());
});

test('what needs attention is one row for a transaction, however often it fails, with the number of its deliveries', async () => {
  stage.open({ retry: { max_attempts: 2, backoff_ms: 0 } });
  stage.answer(500);
  await stage.deliver({ misbehave: { duplicate: 1 } });
  for (let count = 2; count <= 4; count += 1) {
    const text = await show('/');
    expect(rows(text, 'failed')).toEqual(['1001']);
    expect(row(text, 'failed-1001')).toMatch(new RegExp(`^Failed \\d+ ×${count} ORD-1 `));
    expect(await read('/deliveries')).toContain('All 1 Needs attention 1 Failed 1');
    await submit(`deliveries/${deliveryOf('ORD-1').id}/resend`);
    await stage.sandbox.idle();
  }
  expect(await read('/wallets')).toMatch(/1 needs attention: delivery \d+/);
});

test('what needs attention is dismissed for one transaction or for all, and returns only after a new failure', async () => {
  stage.open({ retry: { max_attempts: 2, backoff_ms: HOUR } });
  stage.answer(500);
  for (const merchant_reference of ['A', 'B']) stage.collect({ merchant_reference });
  const tried = (times: number) =>
    until(() => stage.sandbox.deliveries().every(({ attempts }) => attempts.length === times));
  const attention = async () => rows(await show('/deliveries?state=attention'), 'deliveries').sort();
  await tried(1);
  expect(await attention()).toEqual(['1001', '1002']);
  await submit('seen', { transaction: '1001' });
  expect(await attention()).toEqual(['1002']);
  await submit('release');
  await tried(2);
  await submit('seen');
  expect([await attention(), (await show('/')).includes('id="trouble"')]).toEqual([[], false]);
  await submit(`deliveries/${deliveryOf('A').id}/resend`);
  await until(() => stage.sandbox.deliveries().at(-1)?.attempts.length === 1);
  expect(await attention()).toEqual(['1001']);
});

/** The arguments that a shell passes to curl. */
const argumentsOf = async (command: string, env: Record<string, string> = {}): Promise<string[]> => {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  return (await runProgram('sh', ['-c', script], { env })).stdout.split('\0').slice(0, -1);
};

test.each(['it\'s $HOME `ls` $(ls) \\ ! "quoted"', '@/etc/passwd\r\n-x {x,y}[1-3] 😀 é %s'])(
  'a copy of a delivery as curl is the exact request, whatever the body is: %j',
  async (body) => {
    const url = `${stage.merchant.url}?x={a,b}[1-2]&it's=1`;
    stage.collect({ mode: 'pending' });
    const [{ id } = { id: 0 }] = stage.sandbox.compose(1001, { body, callback_url: url });
    await stage.sandbox.idle();
    const text = await show(`/deliveries/${id}`);
    expect(text).toContain('id="copy-curl" data-copy="attempt-1-curl-text"');
    const given = await argumentsOf(copied(text, 'attempt-1-curl'));
    expect(given.slice(-2)).toEqual(['--data-raw', body]);
    expect(given).toEqual(expect.arrayContaining(['-g', 'POST', new URL(url).href]));
    const headers = given.filter((_, index) => given[index - 1] === '-H');
    const [received] = stage.merchant.received;
    const names = ['content-type', 'hmac-signature', 'user-agent'];
    expect(headers.filter((one) => !one.endsWith(':')).sort()).toEqual(
      names.map((name) => `${name}: ${received?.headers[name]}`),
    );
    // What curl would add is turned off.
    expect(headers).toContain('accept:');
  },
);

test('a list of 500 transactions has pages, the oldest is found by its reference, and a search keeps its filter', async () => {
  stage.open({ callbackUrl: undefined });
  for (let i = 1; i <= 500; i += 1)
    stage.collect({ merchant_reference: `ORD-${i}`, mode: i % 5 === 0 ? 'pending' : 'direct' });
  const first = await show('/transactions');
  expect(rows(first, 'transactions')).toHaveLength(25);
  expect(textOf(part(first, 'main', 'main'))).toContain('1 to 25 of 500');
  expect(textOf(first)).toContain('All 500 Pending 100 Completed 400');
  expect(first).toContain('href="/transactions?page=2"');
  const found = await show('/transactions?q=ord-1&state=PENDING');
  expect(textOf(found)).toContain('All 111 Pending 22');
  expect(found).toContain('<input type="hidden" name="state" value="PENDING">');
  // There are five pages: an address of one that is gone leads to the last.
  for (const page of [5, 9]) expect((await listed(`/transactions?q=ORD-1&page=${page}`)).at(-1)).toBe('1001');
});

test('deliveries that misbehaved and were refused, and failures that a later delivery corrected, need no attention', async () => {
  stage.open({ retry: { max_attempts: 1 } });
  stage.answer(401);
  await stage.deliver({ misbehave: { bad_signature: true } });
  await stage.deliver({ merchant_reference: 'ORD-2' });
  expect(rows(await show('/'), 'failed')).toEqual(['1002']);
  stage.answer(200);
  await stage.call('POST', '/sandbox/deliveries/2/resend');
  await stage.sandbox.idle();
  expect(rows(await show('/'), 'failed')).toEqual([]);
});

test('deliveries are copied as a fixture that verifies, and as a test that runs', async () => {
  await stage.deliver({ customer_name: "O'Neill $HOME" });
  const text = await show('/deliveries/1');
  const [received] = stage.merchant.received;
  const fixture = JSON.parse(copied(text, 'attempt-1-fixture'));
  expect(fixture).toMatchObject({ method: 'POST', url: stage.merchant.url, body: received?.body });
  expect(stage.verdict({ ...received, ...fixture })).toBe('ORD-1');

  const file = join(emptyFolder(), 'copied.test.mjs');
  writeFileSync(file, copied(text, 'attempt-1-test'));
  expect(await runProgram(process.execPath, [file])).toMatchObject({ code: 0 });
  expect(stage.merchant.received.map(({ body }) => body)).toEqual([received?.body, received?.body]);
});
