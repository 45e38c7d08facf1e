import { type IncomingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Framework } from '../src/server/start-shop.ts';
import { FRAMEWORKS, type OpenShop, openShop } from './open-shop.ts';

interface Case {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };

const CASES: readonly Case[] = [
  { method: 'GET', target: '/', status: 200 },
  { method: 'HEAD', target: '/', status: 200 },
  { method: 'GET', target: '/?a=1&a=2', status: 200 },
  { method: 'GET', target: '/assets/shop.css', status: 200 },
  { method: 'GET', target: '/assets/style.css', status: 200 },
  { method: 'GET', target: '/assets/live.js', status: 200 },
  { method: 'GET', target: '/assets/pictures/tea.svg', status: 200 },
  { method: 'GET', target: '/checkout', status: 404 },
  { method: 'GET', target: '/checkout?product=coffee', status: 200 },
  { method: 'GET', target: '/checkout?product=tea', status: 200 },
  { method: 'GET', target: '/checkout?product=__proto__', status: 404 },
  { method: 'GET', target: '/checkout?product=%FF', status: 404 },
  { method: 'GET', target: '/nothing', status: 404 },
  { method: 'POST', target: '/', headers: FORM, body: '', status: 404 },
  { method: 'DELETE', target: '/checkout', status: 404 },
  { method: 'GET', target: '/orders/ORD-NONE', status: 404 },
  { method: 'GET', target: '/orders/__proto__', status: 404 },
  { method: 'GET', target: '/orders/ORD-NONE/redirect', status: 303 },
  { method: 'HEAD', target: '/orders/ORD-NONE/redirect', status: 405 },
  { method: 'GET', target: '/owner/orders', status: 200 },
  { method: 'GET', target: '/owner/wallets', status: 200 },
  { method: 'GET', target: '/owner/inbox', status: 200 },
  { method: 'GET', target: '/owner/inbox/transitions?state=dead', status: 200 },
  { method: 'GET', target: `/owner/inbox/transitions/${'0'.repeat(64)}`, status: 404 },
  { method: 'GET', target: '/owner/inbox/assets/style.css', status: 200 },
  { method: 'GET', target: '/owner/inbox', headers: { host: 'evil.example' }, status: 403 },
  { method: 'GET', target: '/owner/inboxes', status: 404 },
  {
    method: 'POST',
    target: '/checkout',
    headers: { ...FORM, 'sec-fetch-site': 'cross-site' },
    status: 403,
  },
  { method: 'GET', target: '/owner/orders', headers: { host: 'evil.example' }, status: 421 },
  { method: 'GET', target: '/healthz', status: 200 },
  { method: 'GET', target: '/orders/%00', status: 404 },
  { method: 'GET', target: '/payments/unconfirmed', status: 200 },
  { method: 'POST', target: '/checkout', headers: FORM, body: 'product=coffee', status: 422 },
  { method: 'POST', target: '/checkout', headers: FORM, body: 'product=coffee&product=tea', status: 404 },
  { method: 'POST', target: '/checkout', headers: FORM, body: 'product=coffee&name=a&name=b', status: 422 },
  { method: 'POST', target: '/checkout', headers: FORM, body: '__proto__[product]=coffee', status: 404 },
  {
    method: 'POST',
    target: '/checkout',
    headers: FORM,
    body: `product=coffee&name=${'n'.repeat(20_000)}`,
    status: 413,
  },
  { method: 'POST', target: '/checkout', headers: JSON_TYPE, body: '{"product":"coffee"}', status: 404 },
  {
    method: 'POST',
    target: '/checkout',
    headers: { 'content-type': 'text/plain' },
    body: 'product=coffee',
    status: 404,
  },
  { method: 'POST', target: '/checkout', status: 404 },
  { method: 'GET', target: '/payments/callbacks', status: 405 },
  { method: 'POST', target: '/payments/callbacks', headers: JSON_TYPE, body: '{}', status: 401 },
  { method: 'POST', target: '/payments/callbacks', headers: FORM, body: 'a=b', status: 401 },
];

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Not fetch: it would tidy the target and the headers up. */
function send(origin: string, { method, target, headers = {}, body = '' }: Case): Promise<Answer> {
  const { hostname, port } = new URL(origin);
  const length = method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  const options = { hostname, port, method, path: target, headers: { ...headers, ...length } };
  return new Promise((resolve, reject) => {
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({
          status: response.statusCode,
          headers: comparable(response.headers),
          body: withoutPorts(text),
        });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Each run has ports of its own; how long a connection lasts is the framework's affair, and so is a JSON charset. */
function comparable(headers: IncomingHttpHeaders): Record<string, string> {
  const { date, connection, 'keep-alive': keepAlive, 'content-length': length, ...rest } = headers;
  const pairs = Object.entries(rest).map(([name, value]) => [name, withoutPorts(String(value))]);
  const compared = Object.fromEntries(pairs);
  // The key of the console's forms is random.
  compared['set-cookie'] = compared['set-cookie']?.replace(/=[0-9a-f]{32};/, '=;');
  compared['content-type'] = compared['content-type']?.replace('json; charset=utf-8', 'json');
  if (headers.location !== undefined) delete compared['content-type'];
  return compared;
}

function withoutPorts(text: string): string {
  return text.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1');
}

const shops = new Map<Framework, OpenShop>();
beforeAll(async () => {
  const newFormId = (): string => '0'.repeat(32);
  for (const framework of FRAMEWORKS) {
    shops.set(framework, await openShop({ framework, newFormId, closing: afterAll }));
  }
});

describe('the same routes and behaviour on every framework', () => {
  test.each(CASES)('$method $target', async (entry) => {
    const answers = new Map<Framework, Answer>();
    for (const [framework, { origin }] of shops) answers.set(framework, await send(origin, entry));
    const express = answers.get('express');
    expect(express?.status).toBe(entry.status);
    for (const framework of FRAMEWORKS) expect(answers.get(framework), framework).toEqual(express);
  });

  test('a path that cannot be decoded gets an error page, and nothing is logged', async () => {
    for (const shop of shops.values()) {
      const logged = shop.log.length;
      const { status, body } = await send(shop.origin, { method: 'GET', target: '/orders/%FF', status: 404 });
      expect([400, 404]).toContain(status);
      expect(body).toContain('Hillside Market');
      expect(shop.log.slice(logged)).toEqual([]);
    }
  });
});
