import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Framework } from '../src/server/start-shop.ts';
import { type OpenShop, openShop } from './support/open-shop.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };
const EVIL = { host: 'evil.example' };
/** Behind a proxy that ends TLS; PORT is the shop's. */
const BY_PROXY = { ...FORM, origin: 'https://127.0.0.1:PORT' };
const CROSS_SITE = { ...FORM, 'sec-fetch-site': 'cross-site' };

type Case = [status: number, method: string, target: string, headers?: Headers, body?: string];
type Headers = Readonly<Record<string, string>>;

const CASES: readonly Case[] = [
  [200, 'GET', '/'],
  [200, 'GET', '/assets/pictures/tea.svg'],
  [200, 'GET', '/checkout?product=coffee'],
  [404, 'GET', '/checkout?product=__proto__'],
  [404, 'GET', '/checkout?product=%FF'],
  [404, 'DELETE', '/checkout'],
  [303, 'GET', '/orders/ORD-NONE/redirect'],
  [405, 'HEAD', '/orders/ORD-NONE/redirect'],
  [404, 'GET', '/orders/%00'],
  [200, 'GET', '/owner/orders'],
  [200, 'GET', '/owner/inbox'],
  [403, 'GET', '/owner/inbox', EVIL],
  [421, 'GET', '/owner/orders', EVIL],
  [403, 'POST', '/checkout', CROSS_SITE],
  [422, 'POST', '/checkout', BY_PROXY, 'product=coffee'],
  [422, 'POST', '/checkout', FORM, 'product=coffee&name=a&name=b'],
  [413, 'POST', '/checkout', FORM, `product=coffee&name=${'n'.repeat(20_000)}`],
  [413, 'POST', '/checkout', FORM, `product=coffee${'&a'.repeat(100)}`],
  [404, 'POST', '/checkout', JSON_TYPE, '{"product":"coffee"}'],
  [405, 'GET', '/payments/callbacks'],
  [401, 'POST', '/payments/callbacks', JSON_TYPE, '{}'],
  [401, 'POST', '/payments/callbacks', FORM, 'a=b'],
  [200, 'GET', '/healthz'],
];

/** Not fetch(): it sets the header `host` itself, and normalises the target and the headers. */
function send(origin: string, [, method, path, headers = {}, body = '']: Case) {
  const { hostname, port } = new URL(origin);
  const length = method === 'POST' ? { 'content-length': String(body.length) } : {};
  const own = Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', port)]);
  const options = { hostname, port, method, path, headers: { ...Object.fromEntries(own), ...length } };
  return new Promise<[number | undefined, IncomingHttpHeaders, string]>((resolve, reject) => {
    const sent = request(options, async (answer) =>
      resolve([answer.statusCode, answer.headers, await text(answer)]),
    );
    sent.on('error', reject).end(body);
  });
}

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

test.each<Case>(CASES)('every framework answers with %i to %s %s, and in the same way', async (...one) => {
  const answers = new Map<Framework, unknown>();
  for (const [framework, { origin }] of shops) {
    const [status, headers, body] = await send(origin, one);
    expect([framework, status]).toEqual([framework, one[0]]);
    answers.set(framework, [comparable(headers), withoutPorts(body)]);
  }
  for (const answer of answers.values()) expect(answer).toEqual(answers.get('express'));
});

/** The status of the answer to a POST whose body is announced and never sent. */
function statusWithoutBody(origin: string, path: string, headers: Headers): Promise<string> {
  const { host, port } = new URL(origin);
  const lines = Object.entries({ host, 'content-length': '900', ...FORM, ...headers }).map((pair) =>
    pair.join(': '),
  );
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () =>
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`),
    );
    socket.on('error', reject).on('data', (piece) => {
      resolve(String(piece).slice(9, 12));
      socket.destroy();
    });
  });
}

test.each<[string, string, Headers]>([
  ['403', '/checkout', CROSS_SITE],
  ['421', '/checkout', EVIL],
  ['403', '/owner/inbox/bulk/retry', CROSS_SITE],
  ['403', '/owner/inbox/bulk/retry', EVIL],
  ['403', '/owner/inbox/bulk/retry', { 'sec-fetch-site': 'same-origin' }],
])(
  'threat A63: every framework answers with %s to a form for %s before its body is sent',
  async (status, ...to) => {
    for (const [framework, { origin }] of shops)
      expect([framework, await statusWithoutBody(origin, ...to)]).toEqual([framework, status]);
  },
);
