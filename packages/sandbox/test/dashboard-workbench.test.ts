import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SandboxDelivery } from '../src/index.ts';
import { call, collection } from './support/api.ts';
import { row, rows, submit, textOf, unescaped } from './support/pages.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage();
const { show } = stage;
const HOUR = 3_600_000;

const deliveryOf = (reference: string): SandboxDelivery => {
  const found = stage.sandbox.deliveries().find(({ body }) => body.includes(`"${reference}"`));
  if (found === undefined) throw new Error(`there is no delivery of ${reference}`);
  return found;
};
const arrived = (): string[] => stage.merchant.received.map(({ data }) => data.payload.merchant_reference);
const failing = (): void => {
  stage.merchant.answer = (response) => response.writeHead(500).end();
};
/** The action of a button by its label. */
const actionOf = (html: string, label: string): string | undefined =>
  new RegExp(`action="/dashboard/([^"]+)"(?:(?!</form>).)*<button[^>]*>${label}`, 's').exec(html)?.[1];

describe('a delivery that waits', () => {
  test.each([
    ['it is late', { misbehave: { late_ms: HOUR } }],
    ['it is held back until a later callback is through', { misbehave: { out_of_order: true } }],
    [
      'it waits for its second attempt',
      { retry: { preset: 'not-2xx' as const, max_attempts: 2, backoff_ms: HOUR } },
    ],
  ])('is sent without the others when its button is pressed: %s', async (_, how) => {
    const sandbox = stage.open({ retry: { preset: 'none' } });
    failing();
    sandbox.collect({ ...collection, merchant_reference: 'FIRST', misbehave: { late_ms: HOUR } });
    sandbox.collect({ ...collection, merchant_reference: 'THIS', ...how });
    sandbox.collect({ ...collection, merchant_reference: 'OTHER', misbehave: { late_ms: HOUR } });
    const { id } = deliveryOf('THIS');
    if ('retry' in how) await until(() => deliveryOf('THIS').attempts.length === 1);
    const before = arrived().length;
    const action = actionOf(await show(`/deliveries/${id}`), 'Send now');
    expect(action).toBe(`deliveries/${id}/release`);
    await submit(sandbox, action ?? '', {}, `/deliveries/${id}`);
    await until(() => deliveryOf('THIS').attempts.length === before + 1);
    expect(arrived().slice(before)).toEqual(['THIS']);
    expect(['FIRST', 'OTHER'].map((one) => deliveryOf(one).state)).toEqual(['scheduled', 'scheduled']);
    // Control: the button that names all of them sends them.
    const all = actionOf(await show('/deliveries'), 'Send all waiting');
    await submit(sandbox, all ?? '', {}, '/deliveries');
    await sandbox.idle();
    expect(arrived().sort()).toEqual([...Array(before + 1).fill('THIS'), 'FIRST', 'OTHER'].sort());
  });
});

describe('what needs attention', () => {
  test('is one row for a transaction, however often it fails, with the number of its deliveries', async () => {
    const sandbox = stage.open({ retry: { max_attempts: 2, backoff_ms: 0 } });
    failing();
    sandbox.collect({ ...collection, misbehave: { duplicate: 1 } });
    await sandbox.idle();
    for (let count = 2; count <= 4; count += 1) {
      const text = await show('/');
      expect(rows(text, 'failed')).toEqual(['1001']);
      expect(row(text, 'failed-1001')).toMatch(new RegExp(`^Failed \\d+ ×${count} ORD-1 `));
      expect(textOf(await show('/deliveries'))).toContain('All 1 Needs attention 1 Failed 1');
      await submit(sandbox, `deliveries/${deliveryOf('ORD-1').id}/resend`);
      await sandbox.idle();
    }
    expect(textOf(await show('/wallets'))).toMatch(/1 needs attention: delivery \d+/);
  });

  test('is dismissed for one transaction or for all, and returns only after a new failure', async () => {
    const sandbox = stage.open({ retry: { max_attempts: 2, backoff_ms: HOUR } });
    failing();
    for (const merchant_reference of ['A', 'B']) sandbox.collect({ ...collection, merchant_reference });
    const tried = (times: number) =>
      until(() => sandbox.deliveries().every(({ attempts }) => attempts.length === times));
    const attention = async () => rows(await show('/deliveries?state=attention'), 'deliveries').sort();
    await tried(1);
    expect(await attention()).toEqual(['1001', '1002']);
    await submit(sandbox, 'seen', { transaction: '1001' });
    expect(await attention()).toEqual(['1002']);
    // A further attempt of what was dismissed is not new.
    await submit(sandbox, 'release');
    await tried(2);
    expect(await attention()).toEqual(['1002']);
    await submit(sandbox, 'seen');
    expect([await attention(), (await show('/')).includes('id="trouble"')]).toEqual([[], false]);
    expect(textOf(await show('/deliveries'))).toContain('Failed 2');
    await submit(sandbox, `deliveries/${deliveryOf('A').id}/resend`);
    await until(() => sandbox.deliveries().at(-1)?.attempts.length === 1);
    expect(await attention()).toEqual(['1001']);
    expect(row(await show('/'), 'failed-1001')).not.toContain('×');
    await submit(sandbox, 'reset');
    expect(sandbox.deliveries()).toEqual([]);
  });
});

test('stays dismissed after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'seen-'));
  const options = { file: join(folder, 'sandbox.db'), retry: { preset: 'none' as const } };
  failing();
  const trouble = async () => (await show('/')).includes('id="trouble"');
  const sandbox = stage.open(options);
  sandbox.collect(collection);
  await sandbox.idle();
  expect(await trouble()).toBe(true);
  await submit(sandbox, 'seen');
  await sandbox.close();
  stage.open(options);
  expect([await trouble(), stage.sandbox.deliveries().length]).toEqual([false, 1]);
  await stage.sandbox.close();
  rmSync(folder, { recursive: true });
});

describe('the list of deliveries', () => {
  test('groups the resends and copies of a transaction below one row, each with its own link and checkbox', async () => {
    const sandbox = stage.open();
    sandbox.collect({ ...collection, misbehave: { forged_amount: 1, duplicate: 1 } });
    sandbox.collect({ ...collection, merchant_reference: 'ORD-2' });
    await sandbox.idle();
    const text = await show('/deliveries');
    expect(rows(text, 'deliveries')).toEqual(['1002', '1001']);
    expect(row(text, 'deliveries-1001')).toMatch(/^Delivered 2 ×2 ORD-1 /);
    const [below = ''] = /<tr class="below" id="deliveries-1001-below">.*?<\/tr>/s.exec(text) ?? [];
    expect(textOf(below)).toMatch(/^1 earlier delivery before 2 Delivered 1 .*forged amount 200 /);
    expect(below).toContain('href="/deliveries/1"');
    expect(text.match(/name="of" value="(\d+)"/g)).toHaveLength(3);
  });

  test('is filtered by state, endpoint and search in the address, and keeps a chosen endpoint', async () => {
    const sandbox = stage.open({ retry: { preset: 'none' } });
    const other = `${stage.merchant.url}/other?a=1&b=2`;
    stage.merchant.answer = (response, { path }) =>
      response.writeHead(path === '/callbacks' ? 200 : 500).end();
    sandbox.collect(collection);
    sandbox.collect({ ...collection, merchant_reference: 'ORD-2', callback_url: other });
    await sandbox.idle();
    const endpoint = `endpoint=${encodeURIComponent(other)}`;
    const listed = async (query: string) => rows(await show(`/deliveries?${query}`), 'deliveries');
    expect(await listed(endpoint)).toEqual(['1002']);
    expect(await listed('state=failed')).toEqual(['1002']);
    expect(await listed(`${endpoint}&state=delivered`)).toEqual([]);
    expect(await listed('q=http+500')).toEqual(['1002']);
    expect(await listed('')).toEqual(['1002', '1001']);
    const text = unescaped(await show(`/deliveries?${endpoint}&q=ord`));
    expect(text).toContain(`<option selected>${other}</option>`);
    expect(text).toContain(
      `href="/deliveries?q=ord&state=failed&${new URLSearchParams({ endpoint: other })}"`,
    );
  });
});

describe('two deliveries', () => {
  test('are compared, and differences of request and answer are marked with the number of the delivery', async () => {
    const sandbox = stage.open({ retry: { preset: 'none' } });
    let status = 500;
    stage.merchant.answer = (response) => response.writeHead(status).end(`{"status":"${status}"}`);
    sandbox.collect(collection);
    await sandbox.idle();
    status = 200;
    sandbox.compose(1, { forged_amount: 7 });
    await sandbox.idle();
    const text = textOf(await show('/deliveries/compare?of=2&of=1'));
    for (const line of [
      '- "transaction_amount": 500, only 1 + "transaction_amount": 7, only 2',
      '- HTTP 500 only 1 + HTTP 200 only 2',
      '- "status": "500" only 1 + "status": "200" only 2',
    ])
      expect(text).toContain(line);
    expect(text).toMatch(/\d unchanged lines/);
    expect(textOf(await show('/deliveries/2'))).toContain('Compare with Delivery 1');
  });

  test.each(['', '?of=1', '?of=1&of=1', '?of=1&of=9', '?of=1&of=2&of=3'])(
    'are needed for a comparison, no more and no fewer: "%s"',
    async (query) => {
      const sandbox = stage.open();
      for (const merchant_reference of ['A', 'B', 'C'])
        sandbox.collect({ ...collection, merchant_reference });
      const response = await sandbox.fetch(`http://127.0.0.1/deliveries/compare${query}`);
      expect(response.status).toBe(400);
      expect(textOf(await response.text())).toContain('Choose exactly two deliveries.');
    },
  );
});

describe('a page of one delivery', () => {
  test('shows the answer above the difference, and the changed lines with their context', async () => {
    const sandbox = stage.open();
    sandbox.collect({ ...collection, misbehave: { status: 'REVERSED' } });
    await sandbox.idle();
    const text = await show('/deliveries/1');
    const [answer, request, changes] = ['<h2>Answer', '<h2>Request', 'id="changes"'].map((one) =>
      text.indexOf(one),
    );
    expect(answer).toBeLessThan(Number(request));
    expect(request).toBeLessThan(Number(changes));
    const [, shown = ''] = /id="changes".*?<\/h2>(.*?)<\/section>/s.exec(text) ?? [];
    expect(textOf(shown.replaceAll(/<\/summary>.*?<\/details>/gs, ''))).toMatch(
      /^16 unchanged lines "provider_code": "example_mobile_money", - "transaction_status": "COMPLETED", was \+ "transaction_status": "REVERSED", added "status_message": .* \} \}$/,
    );
    // Nothing is lost by the folding.
    expect(textOf(shown)).toContain('"merchant_reference": "ORD-1"');
    expect(textOf(await show('/deliveries/1'))).toContain('Changes status REVERSED');
  });
});

describe('a copy as curl', () => {
  /** The arguments that a shell passes to curl. */
  const argumentsOf = (command: string, env: Record<string, string> = {}): string[] =>
    spawnSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })
      .stdout.split('\0')
      .slice(0, -1);
  const commandOn = (html: string, id: string): string =>
    unescaped(new RegExp(`id="${id}-text">(.*?)</pre>`, 's').exec(html)?.[1] ?? '');

  test.each([
    'it\'s $HOME `ls` $(ls) \\ ! "quoted"',
    'two\nlines\r\nand\ttabs',
    '@/etc/passwd',
    '-x --help',
    '{"a":[1,2],"b":"{x,y}[1-3]"} 😀 é',
    '%s %n %0',
    "'''\\''",
  ])('of a delivery is the exact request, whatever the body is: %j', async (body) => {
    const sandbox = stage.open();
    const url = `${stage.merchant.url}?x={a,b}[1-2]&it's=1`;
    sandbox.collect({ ...collection, mode: 'pending' });
    const [{ id } = { id: 0 }] = sandbox.compose(1001, { body, callback_url: url });
    await sandbox.idle();
    const text = await show(`/deliveries/${id}`);
    expect(text).toContain('id="copy-curl" data-copy="attempt-1-curl-text"');
    const given = argumentsOf(commandOn(text, 'attempt-1-curl'));
    const [received] = stage.merchant.received;
    expect(given.at(-1)).toBe(body);
    expect(given.at(-2)).toBe('--data-raw');
    expect(given).toEqual(expect.arrayContaining(['-g', 'POST', new URL(url).href]));
    const headers = given.filter((_, index) => given[index - 1] === '-H');
    expect(headers.filter((one) => !one.endsWith(':')).sort()).toEqual(
      ['content-type', 'hmac-signature', 'user-agent']
        .map((name) => `${name}: ${received?.headers[name]}`)
        .sort(),
    );
    // What curl would add is turned off.
    expect(headers).toContain('accept:');
  });

  test('of a request has method, address and body, and reads the keys from variables', async () => {
    const sandbox = stage.open();
    await call(sandbox, 'POST', '/sandbox/collections', { ...collection, merchant_reference: "O'N" });
    await call(sandbox, 'GET', '/data/wallet-balances?currency=UGX');
    const { publicKey: PUBLIC_KEY, secretKey: SECRET_KEY } = sandbox.account;
    const posted = argumentsOf(commandOn(await show('/requests/1'), 'curl'), { PUBLIC_KEY, SECRET_KEY });
    expect(posted).toEqual(
      expect.arrayContaining([
        'POST',
        'http://127.0.0.1/sandbox/collections',
        `public-key: ${PUBLIC_KEY}`,
        `secret-key: ${SECRET_KEY}`,
      ]),
    );
    expect(JSON.parse(posted.at(-1) ?? '')).toMatchObject({ merchant_reference: "O'N" });
    const got = argumentsOf(commandOn(await show('/requests/2'), 'curl'));
    expect(got).toEqual(
      expect.arrayContaining(['GET', 'http://127.0.0.1/data/wallet-balances?currency=UGX']),
    );
    expect(got).not.toContain('--data-raw');
  });
});

describe('a request', () => {
  test('links its reference to its transaction, and shows status line and headers of the answer', async () => {
    const sandbox = stage.open();
    await call(sandbox, 'POST', '/sandbox/collections', { ...collection, mode: 'pending' });
    await call(sandbox, 'POST', '/sandbox/transactions/1001/outcome', { outcome: 'failed' });
    await call(sandbox, 'POST', '/sandbox/deliveries/1/resend');
    await call(sandbox, 'POST', '/sandbox/collections', { merchant_reference: 'WRONG' });
    await call(sandbox, 'GET', '/data/wallet-balances');
    const text = await show('/requests');
    const cell = (id: number): string =>
      new RegExp(`<tr id="requests-${id}">.*?data-label="Reference">(.*?)</td>`, 's').exec(text)?.[1] ?? '?';
    const link = '<a href="/transactions/1001">ORD-1</a>';
    expect([1, 2, 3, 4, 5].map(cell)).toEqual([link, link, link, 'WRONG', '']);
    const detail = await show('/requests/1');
    expect(detail).toContain(`Transaction: ${link}`);
    const [, answer = ''] = /id="answer-title">(.*?)<\/section>/s.exec(detail) ?? [];
    expect(textOf(answer)).toMatch(/^Answer HTTP\/1\.1 201 content-type: application\/json/);
    expect(rows(await show('/requests?q=wrong'), 'requests')).toEqual(['4']);
  });
});

test.each([
  ['COMPLETED', true],
  ['FAILED', false],
])('the page of a transaction that is %s names a credit: %s', async (status, isNamed) => {
  const sandbox = stage.open();
  sandbox.collect({ ...collection, outcome: status === 'FAILED' ? 'failed' : 'completed' });
  expect(textOf(await show('/transactions/1001')).includes('Credit')).toBe(isNamed);
});
