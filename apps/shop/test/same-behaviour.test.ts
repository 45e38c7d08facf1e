import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Framework } from '../src/server/start-shop.ts';
import { type OpenShop, openShop } from './support/open-shop.ts';
import { type RawRequest, sendRaw } from './support/send-raw.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };
const TEXT = { 'content-type': 'text/plain' };
const EVIL = { host: 'evil.example' };
const CROSS_SITE = { ...FORM, 'sec-fetch-site': 'cross-site' };

type Case = [status: number, method: string, target: string, headers?: Headers, body?: string];
type Headers = RawRequest['headers'];

const CASES: readonly Case[] = [
  [200, 'GET', '/'],
  [200, 'HEAD', '/'],
  [200, 'GET', '/assets/shop.css'],
  [200, 'GET', '/assets/live.js'],
  [200, 'GET', '/assets/pictures/tea.svg'],
  [404, 'GET', '/checkout'],
  [200, 'GET', '/checkout?product=coffee'],
  [404, 'GET', '/checkout?product=__proto__'],
  [404, 'GET', '/checkout?product=%FF'],
  [404, 'GET', '/nothing'],
  [404, 'POST', '/', FORM, ''],
  [404, 'DELETE', '/checkout'],
  [404, 'GET', '/orders/ORD-NONE'],
  [303, 'GET', '/orders/ORD-NONE/redirect'],
  [405, 'HEAD', '/orders/ORD-NONE/redirect'],
  [200, 'GET', '/owner/orders'],
  [200, 'GET', '/owner/inbox'],
  [200, 'GET', '/owner/inbox/transitions?state=dead'],
  [404, 'GET', `/owner/inbox/transitions/${'0'.repeat(64)}`],
  [200, 'GET', '/owner/inbox/assets/style.css'],
  [403, 'GET', '/owner/inbox', EVIL],
  [404, 'GET', '/owner/inboxes'],
  [403, 'POST', '/checkout', CROSS_SITE],
  [403, 'POST', '/checkout/providers', CROSS_SITE],
  [404, 'POST', '/checkout/providers', FORM, 'product=gold'],
  [200, 'POST', '/checkout/providers', FORM, 'product=coffee&quantity=2&account=256770000001'],
  [421, 'GET', '/owner/orders', EVIL],
  [200, 'GET', '/healthz'],
  [404, 'GET', '/orders/%00'],
  [200, 'GET', '/payments/unconfirmed'],
  [422, 'POST', '/checkout', FORM, 'product=coffee'],
  [404, 'POST', '/checkout', FORM, 'product=coffee&product=tea'],
  [422, 'POST', '/checkout', FORM, 'product=coffee&name=a&name=b'],
  [404, 'POST', '/checkout', FORM, '__proto__[product]=coffee'],
  [413, 'POST', '/checkout', FORM, `product=coffee&name=${'n'.repeat(20_000)}`],
  [404, 'POST', '/checkout', JSON_TYPE, '{"product":"coffee"}'],
  [404, 'POST', '/checkout', TEXT, 'product=coffee'],
  [404, 'POST', '/checkout'],
  [405, 'GET', '/payments/callbacks'],
  [401, 'POST', '/payments/callbacks', JSON_TYPE, '{}'],
  [401, 'POST', '/payments/callbacks', FORM, 'a=b'],
];

/** Each run has its own ports; the duration of a connection and the charset of JSON are up to the framework. */
function comparable(headers: IncomingHttpHeaders): Record<string, string> {
  const { date, connection, 'keep-alive': keepAlive, 'content-length': length, ...rest } = headers;
  const pairs = Object.entries(rest).map(([name, value]) => [name, withoutPorts(String(value))]);
  const compared = Object.fromEntries(pairs);
  compared['content-type'] = compared['content-type']?.replace('json; charset=utf-8', 'json');
  if (headers.location !== undefined) delete compared['content-type'];
  return compared;
}

/** Nor the ids of forms, which are random. */
function withoutPorts(text: string): string {
  return text.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1').replaceAll(/[0-9a-f]{32}/g, '');
}

const FRAMEWORKS: readonly Framework[] = ['express', 'fastify', 'koa'];
const shops = new Map<Framework, OpenShop>();
beforeAll(async () => {
  for (const framework of FRAMEWORKS) {
    shops.set(framework, await openShop({ framework, closing: afterAll }));
  }
});

describe('the same routes and behaviour on every framework', () => {
  test.each<Case>(CASES)('%i for %s %s', async (status, method, target, headers, body) => {
    const answers = new Map<Framework, unknown>();
    for (const [framework, { origin }] of shops) {
      const answer = await sendRaw(origin, { method, target, headers, body });
      expect([framework, answer.status]).toEqual([framework, status]);
      answers.set(framework, [comparable(answer.headers), withoutPorts(answer.body)]);
    }
    for (const framework of FRAMEWORKS)
      expect(answers.get(framework), framework).toEqual(answers.get('express'));
  });

  test('a path that cannot be decoded gets an error page, and nothing is logged', async () => {
    for (const shop of shops.values()) {
      const logged = shop.log.length;
      const { status, body } = await sendRaw(shop.origin, { target: '/orders/%FF' });
      expect([400, 404]).toContain(status);
      expect(body).toContain('Hillside Market');
      expect(shop.log.slice(logged)).toEqual([]);
    }
  });
});
