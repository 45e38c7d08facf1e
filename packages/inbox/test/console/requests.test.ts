import { expect, test, vi } from 'vitest';
import { type ConsoleOptions, inboxConsole } from '../../src/console/index.ts';
import { EVIDENCE_WORDS, REASON_WORDS } from '../../src/words.ts';
import { evidence, paid } from '../support/callbacks.ts';
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
  for (const path of [`${BASE}/overdue`, '/overdue'])
    expect(await (await handle(new Request(ORIGIN + path))).text()).toContain('Nothing is overdue.');
});

test('a browser without cookies gets one for the forms, for this path alone and hidden from scripts', async () => {
  const { inbox } = await newConsoleShop();
  const response = await inboxConsole(inbox, { authorize })(new Request(`${ORIGIN}/`));
  expect(response.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly/);
  const html = await response.text();
  for (const link of ['href="/"', 'href="/transitions"', 'href="/assets/style.css"'])
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

test('a transition that is held has a form for each action that the words of its reason name', async () => {
  const { inbox, merchant } = await newConsoleShop('NONE');
  for (const [reason, { state, todo }] of WORDS) {
    const values = `state = '${state}', reason = '${reason}'`;
    await merchant.query(`update ${merchant.table('transition')} set ${values}`);
    const forms = formsIn((await visit(inbox).get(pageOf('NONE'))).html);
    const named = ['retry', 'close', 'reopen'].filter((verb) => new RegExp(`\\b${verb}\\b`, 'i').test(todo));
    const buttons = named.map((verb) => (verb === 'close' ? 'resolve' : verb));
    expect(forms, reason).toEqual(expect.arrayContaining(buttons));
    const isClosed = ['settled', 'superseded', 'resolved'].includes(state);
    expect(forms.includes('reopen'), reason).toBe(isClosed || named.includes('reopen'));
  }
});

test('a page shows the last 10 of the other transitions under its reference', async () => {
  const { inbox, deliver, merchant } = await newConsoleShop();
  const numbers = Array.from({ length: 12 }, (_, number) => number);
  for (const number of numbers) {
    await deliver(paid('NONE', 500, { internal_reference: `INT-${number}` }));
    await merchant.advance(1000);
  }
  const found = (await inbox.list()).map(({ transitionId }) => transitionId);
  const [newest = ''] = found;
  const { html } = await visit(inbox).get(`/transitions/${newest}`);
  const others = [...html.matchAll(/<tr id="others-(\w+)"/g)].map(([, id]) => id);
  expect(others).toEqual(found.slice(1, 11));
});

test('one transition that needs an operator is counted as one, and a forged confirmation is ignored', async () => {
  const { inbox } = await newConsoleShop();
  await inbox.route.onAuthenticRefusal(evidence('ambiguous'));
  expect((await visit(inbox).get('')).text).toContain('1 needs an operator');
  for (const said of ['%ff', '%E0%A4', '<b>closed</b>']) {
    const request = new Request(`${ORIGIN}/`, { headers: { cookie: `inbox-console-said=${said}` } });
    expect(await (await inboxConsole(inbox, { authorize })(request)).text()).toContain('id="said"></p>');
  }
});

test('a form without what it needs, on another path, or with another body than its header says changes nothing', async () => {
  const { inbox, show } = await newConsoleShop('NONE');
  const visitor = visit(inbox);
  const proof = await visitor.fieldsOf(pageOf('NONE'), 'resolve');
  const bulk = { state: 'unhandled', until: '9000000000000' };
  for (const [fields, path, status, headers] of [
    [{ until: '9' }, '/bulk/resolve', 405],
    [{ state: 'unhandled' }, '/bulk/resolve', 405],
    ...['now', '9007199254740991'].map((until) => [{ ...bulk, until }, '/bulk/resolve', 405] as const),
    [bulk, '/bulk/reopen', 405],
    ...['/bulk', '/bulk/nothing', '/transitions', ''].map((path) => [bulk, path, 405] as const),
    [bulk, '/bulk/resolve', 400, { 'content-type': 'multipart/form-data; boundary=x' }],
  ] as const) {
    const sent = { ...proof, ...fields, note: 'all of them' };
    expect((await visitor.post(path, sent, { ...OWN, ...headers })).status, JSON.stringify(fields)).toBe(
      status,
    );
  }
  expect((await show('NONE'))?.actions).toEqual([]);
});

test('a form on a transition that vanishes while it acts leads to a page that says so', async () => {
  const { inbox, merchant } = await newConsoleShop('NONE');
  let isVanishing = false;
  const show: typeof inbox.show = async (id) => {
    const found = await inbox.show(id);
    if (isVanishing) await merchant.query(`delete from ${merchant.table('callback')}`);
    return found;
  };
  const visitor = visit({ ...inbox, show });
  const path = pageOf('NONE');
  const fields = await visitor.fieldsOf(path, 'resolve');
  isVanishing = true;
  const { status, text } = await visitor.post(`${path}/resolve`, { ...fields, note: 'not ours' });
  expect(status).toBe(404);
  expect(text).toContain('has nothing at this address');
});

test('a form that accepts an amount of zero, which settles nothing, says so', async () => {
  const { inbox, pay } = await newConsoleShop();
  await pay('NONE', 0);
  const path = pageOf('NONE');
  const visitor = visit(inbox);
  const [, body = ''] = /<option value="([0-9a-f]{64}:both)">/.exec((await visitor.get(path)).html) ?? [];
  const { status, text } = await visitor.send(path, 'accept', { body, note: 'free of charge' });
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
