import { examplesOf } from '@payment-service/servers/examples';
import { expect, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { addresses } from '../src/pages/addresses.ts';
import type { Service } from '../src/service/service.ts';
import { call } from './support/api.ts';
import { open } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({});
const { show, read, submit } = stage;
const pages = examplesOf('The sandbox', addresses, {
  '/': '/',
  '/transactions': '/transactions',
  '/transactions/:id': '/transactions/1001',
  '/deliveries': '/deliveries',
  '/deliveries/compare': '/deliveries/compare?of=1&of=2',
  '/deliveries/failures': '/deliveries/failures',
  '/deliveries/:id': '/deliveries/1',
  '/requests': '/requests',
  '/requests/:id': '/requests/1',
  '/compose/:id': '/compose/1',
  '/wallets': '/wallets',
  '/wallets/:currency': '/wallets/UGX',
  '/providers': '/providers',
  '/check': '/check',
  '/explain': '/explain',
  '/start': '/start',
  '/settings': '/settings',
  '/settings/reset': '/settings/reset',
  '/statement.csv': { none: 'a file' },
  '/assets/:name': { none: 'parts of the pages' },
  '/sandbox/pay/:id': { none: 'shows no keys, and its forms may lead to the merchant' },
});
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

test.each(pages.map(([path]) => path))(
  '%s loads nothing from elsewhere, holds no inline script or style, is not framed or cached, and has the keys behind a summary',
  async (path) => {
    await stage.deliver({ misbehave: { duplicate: 1 } });
    await stage.call('GET', '/data/wallet-balances');
    const { status, headers, text } = await open(stage.sandbox, path);
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toBe(POLICY);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text).not.toMatch(
      /<style|<img|style="|\son\w+=|<script(?! type="module" src="\/assets\/live\.js"><\/script>)/,
    );
    expect(text.match(/<h1>/g)).toHaveLength(1);
    const [keys = ''] = /<details class="keys" id="keys">.*<pre.*?<\/details><\/details>/s.exec(text) ?? [];
    const { account } = stage.sandbox;
    for (const key of Object.values(account)) {
      expect(keys).toContain(key);
      expect(text.replace(keys, '')).not.toContain(key);
    }
  },
);

test('every route that a reader can open is in the list of addresses, which tests of every page use', () => {
  // Routes are made without calling the service.
  const { routes } = createApp({ allowedHosts: [] as readonly string[] } as Service);
  const opened = routes.filter(
    ({ method, path }) => method === 'GET' && !/^\/(data|sandbox(?!\/pay))\//.test(path),
  );
  const found = new Set(opened.map(({ path }) => path.replace(/\{.*\}/, '')));
  expect([...found].sort()).toEqual([...addresses].sort());
});

test('the page is marked in the navigation', async () => {
  expect(await show('/deliveries')).toMatch(/href="\/deliveries" aria-current="page">Deliveries/);
});

test('a page gets its assets without a socket', async () => {
  for (const [name, type] of [
    ['style.css', 'text/css; charset=utf-8'],
    ['live.js', 'text/javascript; charset=utf-8'],
    ['icon.svg', 'image/svg+xml'],
  ] as const) {
    const { status, headers } = await open(stage.sandbox, `/assets/${name}`);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
  }
});

test('an open page is answered with 304 until something happens', async () => {
  const version = /data-version="(\d+)"/.exec(await show('/deliveries'))?.[1];
  const headers = { accept: 'text/html', 'if-none-match': `"${version}"` };
  const follow = async () => (await stage.sandbox.fetch('http://127.0.0.1/deliveries', { headers })).status;
  expect(await follow()).toBe(304);
  stage.collect();
  expect(await follow()).toBe(200);
});

test('the dashboard returns the error envelope to a program at an unknown path, and 405 for another method', async () => {
  expect((await call(stage.sandbox, 'GET', '/nothing')).body.code).toBe(404);
  const response = await stage.sandbox.fetch('http://127.0.0.1/transactions', { method: 'DELETE' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('settings of a default misbehaviour and a moved clock are shown on every page, each with a button that ends it', async () => {
  expect(await show('/requests')).not.toContain('id="banners"');
  await submit('defaults', { misbehave: 'late', retry: '5xx-and-429' });
  await submit('clock', { advance_seconds: '7200' });
  expect(await read('/requests')).toContain(
    'Callbacks misbehave: Late: after 10 seconds. Back to normal The clock is 2 h ahead.',
  );
  await submit('defaults', { misbehave: 'none' });
  await submit('clock/reset');
  expect(await show('/')).not.toContain('id="banners"');
});

test('settings ask before a reset, which empties everything but the keys', async () => {
  stage.collect({ misbehave: { duplicate: 1 } });
  expect(await show('/settings')).not.toContain('action="/dashboard/reset"');
  expect((await submit('reset', {}, '/settings/reset')).location).toBe('/');
  expect(await stage.list('/sandbox/transactions')).toEqual([]);
  expect(await show('/')).toContain(stage.sandbox.account.publicKey);
});
