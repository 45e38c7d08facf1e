import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CollectionRequest, SandboxDelivery } from '../src/index.ts';
import { collection } from './support/api.ts';
import { runProgram } from './support/command.ts';
import { emptyFolder } from './support/folders.ts';
import { copied, open, part, row, rows, textOf, unescaped } from './support/pages.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage({});
const { show, read, submit } = stage;
const HOUR = 3_600_000;

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
  ['is held back until a later callback is through', { misbehave: { out_of_order: true } }],
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
  // Control: the button that names all of them sends them.
  await press('/deliveries', 'Send all waiting');
  await stage.sandbox.idle();
  expect(arrived().sort()).toEqual([...Array(before + 1).fill('THIS'), 'FIRST', 'OTHER'].sort());
});

describe('what needs attention', () => {
  test('is one row for a transaction, however often it fails, with the number of its deliveries', async () => {
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

  test('is dismissed for one transaction or for all, and returns only after a new failure', async () => {
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
    // Another attempt of a dismissed delivery is not new.
    await submit('release');
    await tried(2);
    expect(await attention()).toEqual(['1002']);
    await submit('seen');
    expect([await attention(), (await show('/')).includes('id="trouble"')]).toEqual([[], false]);
    expect(await read('/deliveries')).toContain('Failed 2');
    await submit(`deliveries/${deliveryOf('A').id}/resend`);
    await until(() => stage.sandbox.deliveries().at(-1)?.attempts.length === 1);
    expect(await attention()).toEqual(['1001']);
    expect(row(await show('/'), 'failed-1001')).not.toContain('×');
    await submit('reset');
    expect(stage.sandbox.deliveries()).toEqual([]);
  });

  test('stays dismissed after a restart', async () => {
    const options = { file: join(emptyFolder(), 'sandbox.db'), retry: { preset: 'none' as const } };
    const isTroubled = async () => (await show('/')).includes('id="trouble"');
    stage.answer(500);
    stage.open(options);
    await stage.deliver();
    expect(await isTroubled()).toBe(true);
    await submit('seen');
    await stage.sandbox.close();
    stage.open(options);
    expect([await isTroubled(), stage.sandbox.deliveries().length]).toEqual([false, 1]);
  });
});

describe('the list of deliveries', () => {
  test('groups the resends and copies of a transaction below one row, each with its own link and checkbox', async () => {
    await stage.deliver({ misbehave: { forged_amount: 1, duplicate: 1 } });
    await stage.deliver({ merchant_reference: 'ORD-2' });
    const text = await show('/deliveries');
    expect(rows(text, 'deliveries')).toEqual(['1002', '1001']);
    expect(row(text, 'deliveries-1001')).toMatch(/^Delivered 2 ×2 ORD-1 /);
    expect(text.match(/<tr class="below"/g)).toHaveLength(1);
    const below = part(text, 'deliveries-1001-below', 'tr');
    expect(textOf(below)).toMatch(/^1 earlier delivery before 2 Delivered 1 .*forged amount 200 /);
    expect(below).toContain('href="/deliveries/1"');
    expect(text.match(/name="of" value="(\d+)"/g)).toHaveLength(3);
  });

  test('is filtered by state, endpoint and search in the address, and keeps a chosen endpoint', async () => {
    stage.open({ retry: { preset: 'none' } });
    const other = `${stage.merchant.url}/other?a=1&b=2`;
    await stage.deliver();
    stage.answer(500);
    await stage.deliver({ merchant_reference: 'ORD-2', callback_url: other });
    const endpoint = `endpoint=${encodeURIComponent(other)}`;
    for (const [query, found] of [
      [endpoint, ['1002']],
      ['state=failed', ['1002']],
      [`${endpoint}&state=delivered`, []],
      ['q=http+500', ['1002']],
      ['', ['1002', '1001']],
    ] as const)
      expect(rows(await show(`/deliveries?${query}`), 'deliveries'), query).toEqual(found);
    const text = unescaped(await show(`/deliveries?${endpoint}&q=ord`));
    expect(text).toContain(`<option selected>${other}</option>`);
    const chosen = new URLSearchParams({ endpoint: other });
    expect(text).toContain(`href="/deliveries?q=ord&state=failed&${chosen}"`);
  });
});

describe('two deliveries', () => {
  test('are compared, and differences of request and answer are marked with the number of the delivery', async () => {
    stage.open({ retry: { preset: 'none' } });
    stage.answer(500, '{"status":"500"}');
    await stage.deliver();
    stage.answer(200, '{"status":"200"}');
    stage.sandbox.compose(1, { forged_amount: 7 });
    await stage.sandbox.idle();
    const text = await read('/deliveries/compare?of=2&of=1');
    for (const line of [
      '- "transaction_amount": 500, only 1 + "transaction_amount": 7, only 2',
      '- HTTP 500 only 1 + HTTP 200 only 2',
      '- "status": "500" only 1 + "status": "200" only 2',
    ])
      expect(text).toContain(line);
    expect(text).toMatch(/\d unchanged lines/);
    expect(await read('/deliveries/2')).toContain('Compare with Delivery 1');
  });

  test.each(['', '?of=1', '?of=1&of=1', '?of=1&of=9', '?of=1&of=2&of=3'])(
    'are needed for a comparison, no more and no fewer: "%s"',
    async (query) => {
      for (const merchant_reference of ['A', 'B', 'C']) stage.collect({ merchant_reference });
      const { status, text } = await open(stage.sandbox, `/deliveries/compare${query}`);
      expect([status, textOf(text)]).toEqual([
        400,
        expect.stringContaining('Choose exactly two deliveries.'),
      ]);
    },
  );
});

test('a page of one delivery shows the answer above the difference, and the changed lines with their context', async () => {
  await stage.deliver({ misbehave: { status: 'REVERSED' } });
  const text = await show('/deliveries/1');
  const places = ['<h2>Answer', '<h2>Request', 'id="changes"'].map((one) => text.indexOf(one));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  const [, shown = ''] = /id="changes".*?<\/h2>(.*?)<\/section>/s.exec(text) ?? [];
  expect(textOf(shown.replaceAll(/<\/summary>.*?<\/details>/gs, ''))).toMatch(
    /^16 unchanged lines "provider_code": "example_mobile_money", - "transaction_status": "COMPLETED", was \+ "transaction_status": "REVERSED", added "status_message": .* \} \}$/,
  );
  // Folding loses nothing.
  expect(textOf(shown)).toContain('"merchant_reference": "ORD-1"');
  expect(textOf(text)).toContain('Changes status REVERSED');
});

describe('a copy as curl', () => {
  /** The arguments that a shell passes to curl. */
  const argumentsOf = async (command: string, env: Record<string, string> = {}): Promise<string[]> => {
    const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
    return (await runProgram('sh', ['-c', script], { env })).stdout.split('\0').slice(0, -1);
  };

  test.each([
    'it\'s $HOME `ls` $(ls) \\ ! "quoted"',
    'two\nlines\r\nand\ttabs',
    '@/etc/passwd',
    '-x --help',
    '{"a":[1,2],"b":"{x,y}[1-3]"} 😀 é',
    '%s %n %0',
    "'''\\''",
  ])('of a delivery is the exact request, whatever the body is: %j', async (body) => {
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
  });

  test('of a request has method, address and body, and reads the keys from variables', async () => {
    await stage.call('POST', '/sandbox/collections', { ...collection, merchant_reference: "O'N" });
    await stage.call('GET', '/data/wallet-balances?currency=UGX');
    const { publicKey: PUBLIC_KEY, secretKey: SECRET_KEY } = stage.sandbox.account;
    const keys = { PUBLIC_KEY, SECRET_KEY };
    const posted = await argumentsOf(copied(await show('/requests/1'), 'curl'), keys);
    const url = 'http://127.0.0.1/sandbox/collections';
    const expected = ['POST', url, `public-key: ${PUBLIC_KEY}`, `secret-key: ${SECRET_KEY}`];
    expect(posted).toEqual(expect.arrayContaining(expected));
    expect(JSON.parse(posted.at(-1) ?? '')).toMatchObject({ merchant_reference: "O'N" });
    const got = await argumentsOf(copied(await show('/requests/2'), 'curl'));
    const address = 'http://127.0.0.1/data/wallet-balances?currency=UGX';
    expect(got).toEqual(expect.arrayContaining(['GET', address]));
    expect(got).not.toContain('--data-raw');
  });
});

test('a request links its reference to its transaction, and shows the masked key, the reason of a refusal, and status line and headers of the answer', async () => {
  await stage.call('POST', '/sandbox/collections', { ...collection, mode: 'pending' });
  await stage.call('POST', '/sandbox/transactions/1001/outcome', { outcome: 'failed' });
  await stage.sandbox.idle();
  await stage.call('POST', '/sandbox/deliveries/1/resend');
  await stage.call('POST', '/sandbox/collections', { merchant_reference: 'WRONG' });
  await stage.call('GET', '/data/wallet-balances');
  const text = await show('/requests');
  const cell = (id: number): string | undefined =>
    new RegExp(`<tr id="requests-${id}">.*?data-label="Reference">(.*?)</td>`, 's').exec(text)?.[1];
  const link = '<a href="/transactions/1001">ORD-1</a>';
  expect([1, 2, 3, 4, 5].map(cell)).toEqual([link, link, link, 'WRONG', '']);
  expect(textOf(text)).toContain('All 5 Refused 1 Answered 4');
  const refused = /^Refused POST \/sandbox\/collections amount: .* WRONG 400 \d+ ms /;
  expect(row(text, 'requests-4')).toMatch(refused);
  expect(row(text, 'requests-1')).toMatch(/^Answered POST /);
  expect(rows(await show('/requests?state=refused'), 'requests')).toEqual(['4']);
  const detail = await show('/requests/1');
  expect(detail).toContain(`Transaction: ${link}`);
  expect(textOf(detail)).toContain(`secret-key: …${stage.sandbox.account.secretKey.slice(-4)}`);
  const [, answer = ''] = /id="answer-title">(.*?)<\/section>/s.exec(detail) ?? [];
  expect(textOf(answer)).toMatch(
    /^Answer HTTP\/1\.1 201 content-type: application\/json .*"payment_page_url": null/,
  );
  expect(rows(await show('/requests?q=wrong'), 'requests')).toEqual(['4']);
});
