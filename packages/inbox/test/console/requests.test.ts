import { describe, expect, test, vi } from 'vitest';
import { type ConsoleOptions, inboxConsole } from '../../src/console/index.ts';
import {
  BASE,
  EVERYTHING,
  newConsoleShop,
  newConsoleShopWithNone,
  ORIGIN,
  OWN,
  pageOf,
  visit,
} from '../support/console.ts';

const authorize: ConsoleOptions['authorize'] = () => ({ by: 'dana', may: EVERYTHING });

describe('a request', () => {
  test('with another method than GET, HEAD and POST is not allowed, and HEAD is served as GET', async () => {
    const { inbox } = await newConsoleShop();
    const handle = inboxConsole(inbox, { basePath: BASE, authorize });
    for (const method of ['PUT', 'DELETE', 'OPTIONS']) {
      const response = await handle(new Request(ORIGIN + BASE, { method }));
      expect(response.status, method).toBe(405);
      expect(await response.text()).toBe('This method is not allowed here.\n');
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    }
    expect((await handle(new Request(ORIGIN + BASE, { method: 'HEAD' }))).status).toBe(200);
  });

  test.each([`${BASE}/overdue`, `${BASE}/overdue/`, '/overdue', '/overdue/'])(
    'for %s is answered with the page of overdue payments, also where a framework has removed the prefix',
    async (path) => {
      const { inbox } = await newConsoleShop();
      const response = await inboxConsole(inbox, { basePath: BASE, authorize })(new Request(ORIGIN + path));
      expect(await response.text()).toContain('Nothing is overdue.');
    },
  );

  test('to a console at the root gets links and a cookie for the root', async () => {
    const { inbox } = await newConsoleShop();
    const response = await inboxConsole(inbox, { authorize })(new Request(`${ORIGIN}/`));
    expect(response.headers.get('set-cookie')).toMatch(/; Path=\/; HttpOnly/);
    const html = await response.text();
    for (const link of ['href="/"', 'href="/transitions"', 'href="/assets/style.css"'])
      expect(html).toContain(link);
  });

  test('of a browser without cookies gets one for the forms, for this path alone and hidden from scripts', async () => {
    const { inbox } = await newConsoleShop();
    const visitor = visit(inbox);
    const setCookies = async (): Promise<string[]> => (await visitor.get('')).headers.getSetCookie();
    const cookie = /^inbox-console=[0-9a-f]{32}; Path=\/admin\/payments; HttpOnly; SameSite=Lax$/;
    expect(await setCookies()).toEqual([expect.stringMatching(cookie)]);
    expect(await setCookies()).toEqual([]);
  });
});

describe('a form', () => {
  test.each([
    ['no state', { action: 'resolve', until: '9' }],
    ['no time', { action: 'resolve', state: 'unhandled' }],
    ['a time that is not a number', { action: 'resolve', state: 'unhandled', until: 'now' }],
    ['a time beyond all dates', { action: 'resolve', state: 'unhandled', until: '9007199254740991' }],
    ['an action on one transition', { action: 'reopen', state: 'unhandled', until: '9000000000000' }],
  ])('that acts in bulk with %s moves nothing and is not allowed', async (_what, fields) => {
    const { inbox, show } = await newConsoleShopWithNone();
    const visitor = visit(inbox);
    const proof = await visitor.fieldsOf(pageOf('NONE'), 'resolve');
    const { status } = await visitor.post('/bulk', { ...proof, ...fields, note: 'all of them' });
    expect(status).toBe(405);
    expect((await show('NONE'))?.actions).toEqual([]);
  });

  test('on a transition that vanishes while it acts leads to a page that says so', async () => {
    const { inbox, merchant } = await newConsoleShopWithNone();
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

  test.each([
    ['on another path', '/transitions', 405],
    ['with a body that is not what its header says', '/bulk', 413],
  ])('%s is refused', async (_what, path, status) => {
    const { inbox } = await newConsoleShopWithNone();
    const visitor = visit(inbox);
    const fields = await visitor.fieldsOf(pageOf('NONE'), 'resolve');
    const headers = status === 413 ? { ...OWN, 'content-type': 'multipart/form-data; boundary=x' } : OWN;
    expect((await visitor.post(path, fields, headers)).status).toBe(status);
  });
});

test('a failure is printed without a hook, and a hook that fails itself is printed', async () => {
  const { inbox } = await newConsoleShop();
  await inbox.close();
  const printed = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const failing = () => Promise.reject(new Error('the tracker is away'));
  for (const onError of [undefined, failing]) {
    const { status, headers } = await visit(inbox, undefined, { onError }).get('');
    expect(status).toBe(500);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  }
  const lines = printed.mock.calls.map(([line]) => String(line));
  printed.mockRestore();
  expect(lines).toEqual([
    expect.stringMatching(/^payment-service-inbox: the console could not answer a request\.\n.*closed/s),
    expect.stringContaining('the tracker is away'),
  ]);
});
