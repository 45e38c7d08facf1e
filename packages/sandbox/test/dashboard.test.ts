import { beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../src/index.ts';
import { call, collection } from './support/api.ts';
import { collectionForm, open, row, submit, textOf } from './support/pages.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage();
let sandbox: Sandbox;
beforeEach(() => {
  sandbox = stage.open();
});

const { show } = stage;
const pages = [
  '/',
  '/transactions',
  '/deliveries',
  '/requests',
  '/wallets',
  '/wallets/UGX',
  '/providers',
  '/check',
  '/start',
  '/settings',
  '/settings/reset',
];

describe('every page of the dashboard', () => {
  test.each(pages)(
    '%s loads nothing from elsewhere, holds no inline script or style, and is not framed or cached',
    async (path) => {
      const { status, headers, text } = await open(sandbox, path);
      expect(status).toBe(200);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(text).not.toMatch(
        /<style|<img|style="|\son\w+=|<script(?! type="module" src="\/assets\/live\.js"><\/script>)/,
      );
      expect(text.match(/<h1>/g)).toHaveLength(1);
      for (const part of ['Simulated', '<main', 'width=device-width', 'Skip to the content']) {
        expect(text).toContain(part);
      }
    },
  );

  test('is marked in the navigation', async () => {
    expect(await show('/deliveries')).toMatch(/href="\/deliveries" aria-current="page">Deliveries/);
  });

  test.each([
    ['style.css', 'text/css; charset=utf-8'],
    ['live.js', 'text/javascript; charset=utf-8'],
    ['stream.js', 'text/javascript; charset=utf-8'],
    ['idiomorph.js', 'text/javascript; charset=utf-8'],
    ['icon.svg', 'image/svg+xml'],
  ])('/assets/%s comes without a socket', async (name, type) => {
    const { status, headers, text } = await open(sandbox, `/assets/${name}`);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(text.length).toBeGreaterThan(100);
  });

  test('404 is a page for a browser and the envelope for a program', async () => {
    for (const path of [
      '/nothing',
      '/transactions/9',
      '/deliveries/9',
      '/requests/9',
      '/compose/9',
      '/wallets/EUR',
    ]) {
      const { status, text } = await open(sandbox, path);
      expect([
        status,
        /<h1>No such (page|transaction|delivery|request|wallet|transaction or delivery)</.test(text),
      ]).toEqual([404, true]);
    }
    expect((await call(sandbox, 'GET', '/nothing')).body.code).toBe(404);
  });

  test('405 for another method', async () => {
    const response = await sandbox.fetch('http://127.0.0.1/transactions', { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('has forms that lead to existing routes only', async () => {
    sandbox.collect({ ...collection, mode: 'pending' });
    sandbox.collect(collection);
    await sandbox.idle();
    const [delivery] = sandbox.deliveries();
    await submit(sandbox, 'defaults', { misbehave: 'late' });
    await submit(sandbox, 'clock', { advance_seconds: '60' });
    sandbox.collect({
      ...collection,
      callback_url: 'http://127.0.0.1:9/',
      retry: { max_attempts: 1 },
      misbehave: {},
    });
    await until(() => sandbox.deliveries().some(({ state }) => state === 'given_up'));
    const contents = await Promise.all(
      [...pages, '/transactions/1001', `/deliveries/${delivery?.id}`, '/compose/1001'].map((path) =>
        show(path),
      ),
    );
    const actions = new Set(
      contents.flatMap((text) =>
        [...text.matchAll(/action="\/dashboard\/([^"]+)"/g)].map(([, action]) => action ?? ''),
      ),
    );
    expect([...actions].sort()).toEqual([
      'addresses',
      'api',
      'banks',
      'check',
      'clock',
      'clock/reset',
      'collections',
      'compose/1001',
      'defaults',
      `deliveries/${delivery?.id}/resend`,
      'deliveries/resend-failed',
      'deposits',
      'limits',
      'misbehaviour',
      'payouts',
      'providers',
      'release',
      'reset',
      'seen',
      'transactions/1001/outcome',
      'transfers',
    ]);
    // Reset comes last: the others need something to act on.
    for (const action of [...actions].sort((a, b) => Number(a === 'reset') - Number(b === 'reset'))) {
      expect([303, 400, 404, 422], action).toContain((await submit(sandbox, action)).status);
    }
  });
});

describe('the keys', () => {
  test.each(pages)(
    'are on %s with the address, behind a summary, each with copy, and together as .env',
    async (path) => {
      const text = await show(path);
      const [shown = ''] =
        /<details class="keys" id="keys">.*<pre.*?<\/details><\/details>/s.exec(text) ?? [];
      for (const key of Object.values(sandbox.account)) {
        expect(shown).toContain(key);
        expect(text.replace(shown, '')).not.toContain(key);
      }
      expect(shown.match(/data-copy=/g)).toHaveLength(5);
      expect(textOf(shown)).toContain('Address http://127.0.0.1 Copy address');
      expect(shown).toContain(`SIGNING_KEY=${sandbox.account.signingKey}`);
    },
  );
});

describe('settings', () => {
  test('keeps the two addresses, which apply to later transactions', async () => {
    await submit(sandbox, 'addresses', { redirect_url: 'http://127.0.0.1:3000/return' });
    const text = await show('/settings');
    expect(text).toMatch(/name="callback_url"[^>]* value=""/);
    expect(text).toMatch(/name="redirect_url"[^>]* value="http:\/\/127\.0\.0\.1:3000\/return"/);
    sandbox.collect({ ...collection, mode: 'pending' });
    const story = await show('/transactions/1001');
    expect(textOf(story)).toContain('No callback will be sent: this transaction has no callback URL.');
    expect(story).toContain('href="/settings#addresses"');
    expect(textOf(await show('/'))).toContain('No callback URL is set, so no callback is sent.');
  });

  test('a default misbehaviour and a moved clock are shown on every page, each with a button that ends it', async () => {
    expect(await show('/requests')).not.toContain('id="banners"');
    await submit(sandbox, 'defaults', { misbehave: 'late', retry: '5xx-and-429' });
    await submit(sandbox, 'clock', { advance_seconds: '7200' });
    expect(textOf(await show('/requests'))).toContain(
      'Callbacks misbehave: Late: after 10 seconds. Back to normal The clock is 2 h ahead.',
    );
    const settings = await show('/settings');
    expect(settings).toContain('<button class="main">Late: after 10 seconds</button>');
    expect(settings).toContain('<option value="5xx-and-429" selected>');
    await submit(sandbox, 'defaults', { misbehave: 'none' });
    await submit(sandbox, 'clock/reset');
    expect(await show('/')).not.toContain('id="banners"');
    expect(await show('/settings')).toContain('<option value="5xx-and-429" selected>');
  });

  test('rules that match no preset are shown in full', async () => {
    await sandbox.close();
    sandbox = stage.open({ callbackUrl: undefined, retry: { accepted: [204], repeated: ['5xx', 409] } });
    expect(textOf(await show('/settings'))).toContain('After 5xx, 409; 204 counts as delivered');
  });

  test('reset asks for confirmation, and then empties everything but the keys', async () => {
    sandbox.collect(collection);
    const { publicKey } = sandbox.account;
    expect(await show('/settings')).not.toContain('action="/dashboard/reset"');
    expect(textOf(await show('/settings/reset'))).toContain('1 transaction and 1 delivery will be deleted.');
    expect((await submit(sandbox, 'reset', {}, '/settings/reset')).location).toBe('/');
    expect(textOf(await show('/transactions'))).toContain('No transaction yet.');
    expect(await show('/')).toContain(publicKey);
  });
});

describe('wallets', () => {
  test('are cleared, and their reserve is released, by buttons', async () => {
    await submit(sandbox, 'collections', {
      ...collectionForm,
      provider: 'example_card_ugx UGX',
      amount: '10000',
    });
    const wallet = async (): Promise<string> =>
      row(await show('/wallets'), 'wallets-UGX-MERCHANT_COLLECTION');
    expect(await wallet()).toContain('UGX 0 UGX 8,685 UGX 965 UGX 9,650');
    await submit(sandbox, 'clearing', { bucket: 'uncleared' });
    expect(await wallet()).toContain('UGX 8,685 UGX 0 UGX 965 UGX 9,650');
    await submit(sandbox, 'clearing', { bucket: 'reserve' });
    expect(await wallet()).toContain('UGX 9,650 UGX 0 UGX 0 UGX 9,650');
  });

  test('late callbacks are sent with a button', async () => {
    sandbox.collect({ ...collection, misbehave: { late_ms: 86_400_000 } });
    expect(stage.merchant.received).toHaveLength(0);
    await submit(sandbox, 'release');
    await until(() => stage.merchant.received.length === 1);
  });
});
