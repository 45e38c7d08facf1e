/** Threat A55: who gets access, where a form comes from, and how a page shows what others wrote. Each with a control. */

import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { inboxConsole } from '../../src/console/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import {
  BASE,
  cookiesOf,
  EVERYTHING,
  formIn,
  formsIn,
  newConsoleShop,
  ORIGIN,
  OWN,
  pageOf,
  visit,
} from '../support/console.ts';
import { actOn, money } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const PAGES = ['', '/payments', '/payment', '/money'];
const FILES = ['/assets/style.css', '/assets/live.js'];
const OTHERS = ['/', '/payments.csv', '/transitions', '/overdue.csv', '/x'];
const PATH = pageOf('NONE');
const CLOSED = { note: 'closed' };

test('a visitor for whom authorize returns nothing, or no right to read, gets a constant page', async () => {
  const { inbox } = await newConsoleShop();
  for (const access of [undefined, false, { by: 'dana', may: ['retry', 'bodies'] }] as const) {
    const visitor = visit(inbox, () => access);
    const answers = [await visitor.post('/acts/retry', {})];
    for (const path of [...PAGES, ...FILES, ...OTHERS]) answers.push(await visitor.get(path));
    expect(new Set(answers.map(({ status, html }) => `${status} ${html}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(403);
  }
});

test('a visitor with the right to read gets the pages and files (control)', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const visitor = visit(inbox, { by: 'dana', may: ['read'] });
  for (const path of [...PAGES, '/payments?reason=no_expectation', pageOf('NONE'), ...FILES]) {
    const { status, html } = await visitor.get(path);
    expect(status, path).toBe(200);
    expect(html, path).not.toMatch(/\/acts?[/?]/);
  }
  // What an act in bulk would change is shown to those who may do it.
  expect((await visitor.get('/acts?act=close&reason=no_expectation')).status).toBe(404);
});

test('authorize is asked again for every request, and the request that it gets has no body', async () => {
  const { inbox, show } = await newConsoleShop('NONE');
  const asked: string[] = [];
  let isIn = true;
  const visitor = visit(inbox, (request) => {
    asked.push(`${request.method} ${request.body}`);
    return isIn && { by: 'dana', may: EVERYTHING };
  });
  const fields = await visitor.fieldsOf(PATH, 'close');
  isIn = false;
  expect((await visitor.post('/act/close', { ...fields, ...CLOSED })).status).toBe(403);
  expect(asked).toEqual(['GET null', 'POST null']);
  expect((await show('NONE'))?.state).toBe('unhandled');
});

test('a wrong result of authorize lets no visitor in and is reported', async () => {
  const { inbox } = await newConsoleShop();
  for (const access of [
    ...[{}, 'dana', true, { may: ['read'] }, { by: 7, may: ['read'] }, { by: ' ', may: ['read'] }],
    ...[{ by: 'dana' }, { by: 'dana', may: 'read' }, { by: 'dana', may: ['read', 'all'] }],
    { by: 'd'.repeat(201), may: ['read'] },
  ]) {
    const errors: unknown[] = [];
    const visitor = visit(inbox, () => access as never, { onError: (error) => errors.push(error) });
    expect((await visitor.get('')).status).toBe(500);
    const rights = 'read, bodies, accept, apply, applyAgain, retry, close, expect, cancel, forget, reconcile';
    expect(errors).toMatchObject([{ option: 'authorize', message: expect.stringContaining(rights) }]);
  }
});

test('each act needs its own right, on one payment and on many, and no other act can be sent to its address', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const everything = visit(inbox);
  for (const name of ['retry', 'close', 'expect', 'forget'] as const) {
    const visitor = visit(inbox, { by: 'dana', may: EVERYTHING.filter((may) => may !== name) });
    const { html } = await visitor.get(PATH);
    expect(formsIn(html)).not.toContain(name);
    const { values } = formIn(html, formsIn(html)[0] ?? '');
    const { act = '' } = await everything.fieldsOf(PATH, name);
    for (const path of [`/act/${name}`, `/acts/${name}`]) {
      const allowed = name === 'retry' || name === 'close' || path.startsWith('/act/') ? 403 : 405;
      expect((await visitor.post(path, { ...values, ...CLOSED, act })).status, path).toBe(allowed);
    }
    // The name of the address counts, for which the right was checked.
    const other = name === 'close' ? 'retry' : 'close';
    expect((await visitor.post(`/act/${other}`, { ...values, ...CLOSED, act })).status, name).toBe(400);
  }
  expect((await inbox.payment('NONE'))?.actions).toEqual([]);
});

test('a form from another site, host or origin, from no page or from an opaque one changes nothing, even with the proof', async () => {
  const { inbox, show } = await newConsoleShop('NONE');
  const visitor = visit(inbox);
  const fields = { ...(await visitor.fieldsOf(PATH, 'close')), ...CLOSED };
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'https://x.shop.example', 'sec-fetch-site': 'same-site' },
    ...[{ origin: 'https://evil.example' }, {}, { origin: 'null' }],
  ];
  for (const headers of foreign) {
    const answer = await visitor.post('/act/close', fields, headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  }
  expect((await show('NONE'))?.state).toBe('unhandled');
  // Control: the same form from a page of the console, behind a proxy that ends TLS.
  const own = { origin: ORIGIN.replace('https:', 'http:') };
  expect((await visitor.post('/act/close', fields, own)).status).toBe(303);
  expect((await show('NONE'))?.state).toBe('resolved');
});

test('a form without the proof, with one of another browser or of another operator is refused', async () => {
  const { inbox, show } = await newConsoleShop('NONE');
  let by = 'dana';
  const visitor = visit(inbox, () => ({ by, may: EVERYTHING }));
  const own = await visitor.fieldsOf(PATH, 'close');
  const resolve = async (fields: Record<string, string>): Promise<number> =>
    (await visitor.post('/act/close', { ...fields, ...CLOSED })).status;
  for (const fields of [{}, { ...own, proof: '' }, await visit(inbox).fieldsOf(PATH, 'close')])
    expect(await resolve(fields)).toBe(403);
  by = 'eve';
  expect(await resolve(own)).toBe(403);
  expect((await show('NONE'))?.state).toBe('unhandled');
  by = 'dana';
  expect(await resolve(own)).toBe(303);
});

test('a form that one process made is accepted by another', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const options = { basePath: BASE, authorize: () => ({ by: 'dana', may: EVERYTHING }) };
  const [first, second] = [inboxConsole(inbox, options), inboxConsole(inbox, options)];
  const page = await first(new Request(ORIGIN + BASE + PATH));
  const cookie = cookiesOf(page)
    .map((pair) => pair.join('='))
    .join('; ');
  const body = new URLSearchParams({ ...formIn(await page.text(), 'close').values, ...CLOSED });
  const headers = { ...OWN, cookie: `x-${cookie};${cookie};last=1` };
  const sent = new Request(`${ORIGIN}${BASE}/act/close`, { method: 'POST', body, headers });
  expect((await second(sent)).status).toBe(303);
});

const MARKUP = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`;

test('markup in references, names, errors and notes is text on every page', async () => {
  const { inbox, pay, merchant } = await newConsoleShop();
  const names = { customer_name: MARKUP, provider_code: MARKUP, internal_reference: MARKUP };
  await inbox.route.onCallback(paid(MARKUP, 500, names));
  await inbox.route.onCallback(
    callback({ merchant_reference: 'S', transaction_status: MARKUP, transaction_type: MARKUP }),
  );
  await inbox.expect({ ...money(MARKUP), currency: 'A<b>', deadline: new Date(0) });
  await inbox.expect(money('DEAD-1'));
  await pay('DEAD-1');
  await merchant.advance(1000);
  await actOn(inbox, 'DEAD-1', 'retry', { by: MARKUP, note: MARKUP });
  const visitor = visit(inbox);
  const query = new URLSearchParams({ search: MARKUP });
  const searches = [
    `/payments?${query}`,
    '/payment?reference=%3Cb%3E',
    '/acts?act=close&reason=no_expectation',
  ];
  const stories = [pageOf(MARKUP), pageOf('DEAD-1')];
  for (const path of [...PAGES, ...searches, ...stories]) {
    const { html, text, status } = await visitor.get(path);
    expect(status, path).toBe(path.endsWith('%3Cb%3E') ? 404 : 200);
    expect(html, path).not.toMatch(/<script>|<img|<b>A|onerror=alert\(1\)>[^&]*<\/|A<b>/);
    if (stories.includes(path)) expect(text, path).toContain(MARKUP);
  }
});

test('names, account numbers and what is not known are hidden without the right to see bodies', async () => {
  const { inbox } = await newConsoleShop();
  const personal = {
    customer_name: 'Grace Nakato',
    transaction_account: '256772000001',
    status_message: 'paid by Grace',
    extra: { phone: 256772000002, deeper: ['Nakato'] },
  };
  await inbox.route.onCallback(paid('ORD-7', 512, personal));
  await inbox.route.onCallback(paid('ORD-7', 513, { ...personal, customer_name: 'Grace Other' }));
  const may = EVERYTHING.filter((right) => right !== 'bodies');
  const { html, text } = await visit(inbox, { by: 'dana', may }).get(pageOf('ORD-7'));
  expect(html).not.toMatch(/Grace|Nakato|25677200000/);
  expect(text).toContain('"request_amount": 512');
  expect(text).toContain('"merchant_reference": "ORD-7"');
  // It shows that they differ, but not how.
  expect(text).toMatch(/- "customer_name": "hidden \d+", was \+ "customer_name": "hidden \d+", added/);
  // Control: with the right.
  expect((await visit(inbox).get(pageOf('ORD-7'))).text).toContain('"customer_name": "Grace Nakato"');
});

test('the list to download has no cell that is a formula (threat A56)', async () => {
  const { inbox } = await newConsoleShop();
  const formulas = ['=1+1', '+1', '-1', '@SUM(1)', '\t=1', '\r=1', 'a"b,c'];
  for (const [index, reference] of formulas.entries())
    await inbox.route.onCallback(
      callback({ merchant_reference: reference, internal_reference: `I-${index}` }),
    );
  await workOff(inbox);
  const { html, headers } = await visit(inbox).get('/payments.csv');
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const cells = parse(html).flat();
  expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
  for (const formula of formulas.slice(0, -1)) expect(cells).toContain(`'${formula}`);
  expect(cells).toContain('a"b,c');
});

test('the pages cannot be framed, load nothing from outside and nothing inline, and are kept nowhere', async () => {
  const { inbox } = await newConsoleShop('NONE');
  for (const path of [...PAGES, PATH, '/x']) {
    const { html, headers } = await visit(inbox).get(path);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "frame-ancestors 'none'"]) expect(policy).toContain(part);
    expect(policy).not.toMatch(/unsafe|https?:/);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    });
    expect(headers.has('access-control-allow-origin')).toBe(false);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*src=)/);
    expect(html).not.toMatch(new RegExp(`(?:src|href|action)="(?!${BASE}|#)`));
  }
});
