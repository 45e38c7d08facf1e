import { expect, test, vi } from 'vitest';
import { type ConsoleOptions, inboxConsole } from '../../src/console/index.ts';
import { EVIDENCE_WORDS, REASON_WORDS } from '../../src/words.ts';
import { paid } from '../support/callbacks.ts';
import { BASE, EVERYTHING, formsIn, newConsoleShop, ORIGIN, OWN, pageOf, visit } from '../support/console.ts';

const WORDS = Object.entries({
  ...REASON_WORDS,
  ambiguous: { ...EVIDENCE_WORDS, state: 'quarantined', todo: 'Review it, then `resolve` it.' },
  ...{ timestamp_unreadable: { ...EVIDENCE_WORDS, state: 'quarantined' } },
  ...{ timestamp_out_of_tolerance: { ...EVIDENCE_WORDS, state: 'quarantined' } },
});

const authorize: ConsoleOptions['authorize'] = () => ({ by: 'dana', may: EVERYTHING });

test('a console with wrong options is refused with the reason', async () => {
  const { inbox } = await newConsoleShop();
  const paths = ['admin', '/admin/', '/a b', '/admin?x', 'https://shop.example/admin', '//', 5];
  const no = 'inboxConsole(): inbox must be the inbox that createInbox() returns. It is undefined.';
  for (const [given, options, says] of [
    [undefined, {}, no],
    ...['dana', true, undefined].map(
      (wrong) => [inbox, { authorize: wrong }, 'authorize must be a function that returns who'] as const,
    ),
    [inbox, { onError: true }, 'onError must be a function'],
    ...paths.map((basePath) => [inbox, { basePath }, 'basePath must be a path'] as const),
  ] as const)
    expect(() => Reflect.apply(inboxConsole, undefined, [given, { authorize, ...options }])).toThrow(says);
});

test('only GET, HEAD and POST are allowed, HEAD is served as GET, and a framework may have removed the prefix', async () => {
  const { inbox } = await newConsoleShop();
  const handle = inboxConsole(inbox, { basePath: BASE, authorize });
  for (const method of ['PUT', 'DELETE', 'OPTIONS']) {
    const response = await handle(new Request(ORIGIN + BASE, { method }));
    expect(response.status, method).toBe(405);
    expect(await response.text()).toBe('This method is not allowed here.\n');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  }
  expect((await handle(new Request(ORIGIN + BASE, { method: 'HEAD' }))).status).toBe(200);
  for (const path of [`${BASE}/payments`, '/payments'])
    expect(await (await handle(new Request(ORIGIN + path))).text()).toContain('No payments.');
});

test('a browser without cookies gets one for the forms, for this path alone and hidden from scripts', async () => {
  const { inbox } = await newConsoleShop();
  const response = await inboxConsole(inbox, { authorize })(new Request(`${ORIGIN}/`));
  expect(response.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly/);
  const html = await response.text();
  for (const link of ['href="/"', 'href="/payments"', 'href="/assets/style.css"'])
    expect(html).toContain(link);
  const visitor = visit(inbox);
  const setCookies = async (): Promise<string[]> => (await visitor.get('')).headers.getSetCookie();
  const cookie = /^inbox-console=[0-9a-f]{32}; Path=\/admin\/payments; HttpOnly; SameSite=Lax$/;
  expect(await setCookies()).toEqual([expect.stringMatching(cookie)]);
  expect(await setCookies()).toEqual([]);
  const handle = inboxConsole(inbox, { basePath: BASE, authorize });
  for (const key of ['a'.repeat(33), 'A'.repeat(32), '']) {
    const request = new Request(ORIGIN + BASE, { headers: { cookie: `inbox-console=${key}` } });
    expect((await handle(request)).headers.get('set-cookie'), key).toMatch(cookie);
  }
});

test('a payment that is held has a form for each act that the words of its reason name', async () => {
  const { inbox, merchant } = await newConsoleShop('NONE');
  for (const [reason, { state, todo }] of WORDS) {
    const values = `state = '${state}', reason = '${reason}'`;
    await merchant.query(`update ${merchant.table('transition')} set ${values}`);
    const forms = formsIn((await visit(inbox).get(pageOf('NONE'))).html);
    const named = ['retry', 'close', 'apply'].filter((verb) => new RegExp(`\\b${verb}\\b`, 'i').test(todo));
    expect(forms, reason).toEqual(expect.arrayContaining(named));
    const isClosed = ['settled', 'superseded', 'resolved'].includes(state);
    expect(forms.includes('apply'), reason).toBe(isClosed || named.includes('apply'));
  }
});

test('a page shows the evidence of the newest 10 reports, and says how many there are', async () => {
  const { inbox, deliver, merchant } = await newConsoleShop();
  const numbers = Array.from({ length: 12 }, (_, number) => number);
  for (const number of numbers) {
    await deliver(paid('NONE', 500, { internal_reference: `INT-${number}` }));
    await merchant.advance(1000);
  }
  const found = (await inbox.reports()).map(({ transitionId }) => transitionId);
  const { html, text } = await visit(inbox).get(pageOf('NONE'));
  expect([...html.matchAll(/id="report-(\w+)"/g)].map(([, id]) => id)).toEqual(found.slice(0, 10));
  expect(text).toContain('The newest 10 of 12.');
});

test('one payment that needs a person is counted as one, and a forged confirmation is ignored', async () => {
  const { inbox } = await newConsoleShop('NONE');
  expect((await visit(inbox).get('')).text).toContain('1 needs a person');
  for (const said of ['%ff', '%E0%A4', '<b>closed</b>']) {
    const request = new Request(`${ORIGIN}/`, { headers: { cookie: `inbox-console-said=${said}` } });
    expect(await (await inboxConsole(inbox, { authorize })(request)).text()).toContain('id="said"></p>');
  }
});

test('a form without what it needs, on another path, or with another body than its header says changes nothing', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const visitor = visit(inbox);
  const fields = await visitor.fieldsOf(pageOf('NONE'), 'close');
  const many = { reason: 'no_expectation', until: '9000000000000' };
  for (const [changes, path, status, headers] of [
    [{ until: '9' }, '/acts/close', 400],
    [{ ...many, until: 'now' }, '/acts/close', 400],
    [{ ...many, until: '9007199254740991' }, '/acts/close', 400],
    [many, '/acts/apply', 405],
    ...['/acts', '/acts/nothing', '/payments', '/act', ''].map((path) => [many, path, 405] as const),
    [many, '/acts/close', 400, { 'content-type': 'multipart/form-data; boundary=x' }],
    ...['', '{', '7', 'null', '[]', '{"name":"close","merchant_reference":"NONE","transaction_type":7}'].map(
      (act) => [{ act }, '/act/close', 400] as const,
    ),
    [
      { act: '{"name":"close","merchant_reference":"OTHER","transaction_type":"COLLECTION"}' },
      '/act/close',
      404,
    ],
    [
      { act: '{"name":"close","merchant_reference":"NONE","transaction_type":"COLLECTION"}' },
      '/act/close',
      409,
    ],
  ] as const) {
    const sent = { ...fields, ...changes, note: 'all of them' };
    expect(
      (await visitor.post(path, sent, { ...OWN, ...headers })).status,
      JSON.stringify([changes, path]),
    ).toBe(status);
  }
  expect((await inbox.payment('NONE'))?.actions).toEqual([]);
});

test('a form on a payment that has vanished leads to a page that says so', async () => {
  const { inbox, merchant } = await newConsoleShop('NONE');
  const visitor = visit(inbox);
  const fields = await visitor.fieldsOf(pageOf('NONE'), 'close');
  for (const name of ['payment', 'callback']) await merchant.query(`delete from ${merchant.table(name)}`);
  const { status, text } = await visitor.post('/act/close', { ...fields, note: 'not ours' });
  expect(status).toBe(404);
  expect(text).toContain('Nothing is known under this reference.');
});

test('a form that accepts an amount of zero, which settles nothing, says so', async () => {
  const { inbox, pay } = await newConsoleShop();
  await pay('NONE', 0);
  const { status, text } = await visit(inbox).send(pageOf('NONE'), 'accept', { note: 'free of charge' });
  expect(status).toBe(422);
  expect(text).toContain('amount must be');
});

test('a failure is reported, or printed without a hook, as is one of the hook, and the visitor sees a constant page', async () => {
  const { inbox } = await newConsoleShop();
  await inbox.close();
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const failing = () => Promise.reject(new Error('the tracker is unavailable'));
  const errors: unknown[] = [];
  for (const onError of [undefined, failing, (error: unknown) => errors.push(error)]) {
    const { status, headers, html } = await visit(inbox, undefined, { onError }).get('');
    expect(status).toBe(500);
    expect(html).toMatch(/^The console cannot read the inbox now\./);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  }
  const lines = printed.mock.calls.map(([line]) => String(line));
  printed.mockRestore();
  expect(errors).toHaveLength(1);
  expect(lines).toEqual([
    expect.stringMatching(/^payment-service-inbox: the console could not answer a request\.\n.*closed/s),
    expect.stringContaining('the tracker is unavailable'),
  ]);
});
