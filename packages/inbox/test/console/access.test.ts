/** Threat A55: who gets in, who a form is from, and what a page shows of what others wrote. Each with a control. */
import { ConfigurationError } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import { type ConsoleOptions, inboxConsole } from '../../src/console/index.ts';
import { readCsv } from '../../src/reconciliation/csv.ts';
import { callback, paid } from '../support/callbacks.ts';
import { BASE, EVERYTHING, formIn, formsIn, newConsoleShop, ORIGIN, OWN, visit } from '../support/console.ts';
import { money } from '../support/shop.ts';

const PATHS = [
  '',
  '/',
  '/transitions',
  '/transitions.csv',
  '/overdue',
  '/overdue.csv',
  '/paid',
  '/events',
  '/x',
];
const FILES = ['/assets/style.css', '/assets/live.js'];

describe('authorize', () => {
  test.each([{}, { authorize: undefined }, { authorize: true }, undefined])(
    'a console is refused with %j in place of the options',
    async (options) => {
      const { inbox } = await newConsoleShop();
      expect(() => inboxConsole(inbox, options as unknown as ConsoleOptions)).toThrow(ConfigurationError);
    },
  );

  test.each([undefined, false] as const)(
    'a visitor for whom it returns %s gets a constant page',
    async (access) => {
      const { inbox } = await newConsoleShop();
      const visitor = visit(inbox, () => access);
      const answers = [];
      for (const path of [...PATHS, ...FILES]) answers.push(await visitor.get(path));
      answers.push(await visitor.post('/bulk', { action: 'retry' }));
      expect(new Set(answers.map(({ status, html }) => `${status} ${html}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(403);
    },
  );

  test('control: a visitor with the right to read gets the pages and files', async () => {
    const { inbox } = await newConsoleShop();
    const visitor = visit(inbox, { by: 'dana', may: ['read'] });
    for (const path of ['', '/transitions', '/overdue', '/paid', ...FILES]) {
      expect((await visitor.get(path)).status, path).toBe(200);
    }
  });

  test('is asked again for every request, and the request that it gets has no body', async () => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const [one] = await inbox.list();
    const asked: string[] = [];
    let isIn = true;
    const visitor = visit(inbox, (request) => {
      asked.push(`${request.method} ${request.body}`);
      return isIn && { by: 'dana', may: EVERYTHING };
    });
    const path = `/transitions/${one?.transitionId}`;
    const { values } = formIn((await visitor.get(path)).html, 'resolve');
    isIn = false;
    const answer = await visitor.post(`${path}/resolve`, { ...values, note: 'closed' });
    expect(answer.status).toBe(403);
    expect(asked).toEqual(['GET null', 'POST null']);
    expect((await inbox.list())[0]?.state).toBe('unhandled');
  });

  test.each([{}, { by: '', may: ['read'] }, { by: 'dana' }, { by: 'dana', may: ['all'] }, 'dana', true])(
    'a wrong answer of it, %j, lets no visitor in and is reported',
    async (access) => {
      const { inbox } = await newConsoleShop();
      const errors: unknown[] = [];
      const visitor = visit(inbox, () => access as never, { onError: (error) => errors.push(error) });
      expect((await visitor.get('')).status).toBe(500);
      expect(errors).toMatchObject([{ option: 'authorize' }]);
    },
  );
});

describe('actions', () => {
  test('a person acts under the name of authorize, whatever the form says', async () => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const [one] = await inbox.list();
    const path = `/transitions/${one?.transitionId}`;
    await visit(inbox).send(path, 'resolve', { by: 'the boss', note: 'not ours' });
    const details = await inbox.show(one?.transitionId ?? '');
    expect(details).toMatchObject({ state: 'resolved', actions: [{ by: 'dana', note: 'not ours' }] });
  });

  test.each([
    ['retry', 'retry'],
    ['resolve', 'resolve'],
    ['reopen', 'reopen'],
    ['accept', 'expect'],
  ] as const)('%s needs the right %s', async (action, right) => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const [one] = await inbox.list();
    const path = `/transitions/${one?.transitionId}`;
    const others = EVERYTHING.filter((may) => may !== right);
    const visitor = visit(inbox, { by: 'dana', may: others });
    const page = await visitor.get(path);
    expect(formsIn(page.html)).not.toContain(action);
    const [form = ''] = formsIn(page.html);
    const { values } = formIn(page.html, form);
    const answer = await visitor.post(`${path}/${action}`, { ...values, note: 'because' });
    expect(answer.status).toBe(403);
    expect((await inbox.show(one?.transitionId ?? ''))?.actions).toEqual([]);
  });

  test.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { origin: 'https://x.shop.example', 'sec-fetch-site': 'same-site' }],
    ['another origin, in an old browser', { origin: 'https://evil.example' }],
    ['no page', {}],
    ['an opaque origin', { origin: 'null' }],
  ])('a form that comes from %s changes nothing, even with the proof', async (_name, headers) => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const [one] = await inbox.list();
    const path = `/transitions/${one?.transitionId}`;
    const visitor = visit(inbox);
    const { values } = formIn((await visitor.get(path)).html, 'resolve');
    const answer = await visitor.post(`${path}/resolve`, { ...values, note: 'closed' }, headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect((await inbox.list())[0]?.state).toBe('unhandled');
    // Control: the same form from a page of the console.
    expect((await visitor.post(`${path}/resolve`, { ...values, note: 'closed' }, OWN)).status).toBe(303);
    expect((await inbox.list())[0]?.state).toBe('resolved');
  });

  test('a form without the proof, with one of another browser or of another person is refused', async () => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const [one] = await inbox.list();
    const path = `/transitions/${one?.transitionId}`;
    let by = 'dana';
    const visitor = visit(inbox, () => ({ by, may: EVERYTHING }));
    const { values } = formIn((await visitor.get(path)).html, 'resolve');
    const others = formIn((await visit(inbox).get(path)).html, 'resolve').values;
    const note = 'closed';
    const statuses = [];
    for (const fields of [{ note }, { ...values, proof: '', note }, { ...others, note }]) {
      statuses.push((await visitor.post(`${path}/resolve`, fields)).status);
    }
    by = 'eve';
    statuses.push((await visitor.post(`${path}/resolve`, { ...values, note })).status);
    expect(statuses).toEqual([403, 403, 403, 403]);
    expect((await inbox.list())[0]?.state).toBe('unhandled');
    by = 'dana';
    expect((await visitor.post(`${path}/resolve`, { ...values, note })).status).toBe(303);
  });

  test('a form that one process made is taken by another', async () => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const [one] = await inbox.list();
    const options = { basePath: BASE, authorize: () => ({ by: 'dana', may: EVERYTHING }) };
    const [first, second] = [inboxConsole(inbox, options), inboxConsole(inbox, options)];
    const url = `${ORIGIN}${BASE}/transitions/${one?.transitionId}`;
    const page = await first(new Request(url));
    const cookie = page.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ');
    const { values } = formIn(await page.text(), 'resolve');
    const body = new URLSearchParams({ ...values, note: 'closed' });
    const answer = await second(
      new Request(`${url}/resolve`, { method: 'POST', body, headers: { ...OWN, cookie } }),
    );
    expect(answer.status).toBe(303);
  });

  test('a form that is longer than any of its own is refused', async () => {
    const { inbox } = await newConsoleShop();
    expect((await visit(inbox).post('/bulk', { note: 'x'.repeat(70_000) })).status).toBe(413);
  });
});

describe('what others wrote', () => {
  const MARKUP = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`;

  test('markup in references, names, errors and notes is text on every page', async () => {
    const { inbox, pay, merchant } = await newConsoleShop();
    await inbox.receive(
      paid(MARKUP, 500, { customer_name: MARKUP, provider_code: MARKUP, internal_reference: MARKUP }),
    );
    await inbox.receive(
      callback({ merchant_reference: 'S', transaction_status: MARKUP, transaction_type: MARKUP }),
    );
    await inbox.expect({ ...money(MARKUP), currency: 'A<b>', deadline: new Date(0) });
    await inbox.expect(money('DEAD-1'));
    await pay('DEAD-1');
    await merchant.advance(1000);
    const visitor = visit(inbox);
    const [hostile] = await inbox.list({ merchant_reference: MARKUP });
    const [dead] = await inbox.list({ merchant_reference: 'DEAD-1' });
    await inbox.retry(dead?.transitionId ?? '', { by: MARKUP, note: MARKUP });
    const query = new URLSearchParams({ reference: MARKUP });
    const paths = [
      '',
      '/transitions',
      `/transitions?${query}`,
      `/paid?${query}`,
      '/overdue',
      '/bulk?action=resolve&state=unhandled',
    ];
    for (const path of [
      ...paths,
      `/transitions/${hostile?.transitionId}`,
      `/transitions/${dead?.transitionId}`,
    ]) {
      const { html, text, status } = await visitor.get(path);
      expect(status, path).toBe(200);
      expect(html, path).not.toMatch(/<script>|<img|<b>A|onerror=alert\(1\)>[^&]*<\/|A<b>/);
      if (path.includes('/transitions/')) expect(text, path).toContain(MARKUP);
    }
  });

  test('an id of another account is as unknown as any other', async () => {
    const { inbox, merchant } = await newConsoleShop();
    const other = merchant.open({ account: 'other' });
    await other.receive(paid('THEIRS', 500, {}, { account: 'other' }));
    const [theirs] = await other.list();
    const path = `/transitions/${theirs?.transitionId}`;
    const visitor = visit(inbox);
    expect((await visitor.get(path)).status).toBe(404);
    await inbox.receive(paid('OURS', 500));
    const [ours] = await inbox.list();
    const { values } = formIn((await visitor.get(`/transitions/${ours?.transitionId}`)).html, 'resolve');
    expect((await visitor.post(`${path}/resolve`, { ...values, note: 'closed' })).status).toBe(404);
    expect((await other.list())[0]?.state).toBe('pending');
    // Control: in its own console it is there.
    expect((await visit(other).get(path)).status).toBe(200);
  });

  test('names, account numbers and what is not known are hidden without the right to see bodies', async () => {
    const { inbox } = await newConsoleShop();
    const personal = {
      customer_name: 'Grace Nakato',
      transaction_account: '256772000001',
      status_message: 'paid by Grace',
      extra: { phone: 256772000002, deeper: ['Nakato'] },
    };
    await inbox.receive(paid('ORD-7', 512, personal));
    await inbox.receive(paid('ORD-7', 513, { ...personal, customer_name: 'Grace Other' }));
    const [one] = await inbox.list();
    const path = `/transitions/${one?.transitionId}`;
    const hidden = await visit(inbox, {
      by: 'dana',
      may: ['read', 'retry', 'resolve', 'reopen', 'expect'],
    }).get(path);
    expect(hidden.html).not.toMatch(/Grace|Nakato|25677200000/);
    expect(hidden.text).toContain('"request_amount": 512');
    expect(hidden.text).toContain('"merchant_reference": "ORD-7"');
    // That they differ shows, and not in what.
    expect(hidden.text).toMatch(
      /- "customer_name": "hidden \d+", was \+ "customer_name": "hidden \d+", added/,
    );
    // Control: with the right.
    expect((await visit(inbox).get(path)).text).toContain('"customer_name": "Grace Nakato"');
  });

  test('the list to download has no cell that is a formula (threat A56)', async () => {
    const { inbox } = await newConsoleShop();
    const formulas = ['=1+1', '+1', '-1', '@SUM(1)', '\t=1', '\r=1', 'a"b,c'];
    for (const [index, reference] of formulas.entries()) {
      await inbox.receive(callback({ merchant_reference: reference, internal_reference: `I-${index}` }));
    }
    const { html, headers } = await visit(inbox).get('/transitions.csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const cells = readCsv(html, ',').flatMap((row) => Object.values(row));
    expect(cells.filter((cell) => /^[=+\-@\t\r]/.test(cell))).toEqual([]);
    for (const formula of formulas.slice(0, -1)) expect(cells).toContain(`'${formula}`);
    expect(cells).toContain('a"b,c');
  });
});

describe('the pages', () => {
  test('cannot be framed, load nothing from outside and nothing inline, and are kept nowhere', async () => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const [one] = await inbox.list();
    for (const path of ['', '/transitions', `/transitions/${one?.transitionId}`, '/paid', '/overdue', '/x']) {
      const { html, headers } = await visit(inbox).get(path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(policy).not.toMatch(/https?:/);
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*src=)/);
      const addresses = [...html.matchAll(/(?:src|href|action)="([^"]*)"/g)].map(
        ([, address = '']) => address,
      );
      expect(addresses.filter((address) => !address.startsWith(BASE) && !address.startsWith('#'))).toEqual(
        [],
      );
    }
  });

  test('what fails is reported, and the visitor sees a constant page', async () => {
    const { inbox } = await newConsoleShop();
    const errors: unknown[] = [];
    await inbox.close();
    const { status, html } = await visit(inbox, undefined, { onError: (error) => errors.push(error) }).get(
      '',
    );
    expect(status).toBe(500);
    expect(html).toMatch(/^The console cannot read the inbox now\./);
    expect(errors).toHaveLength(1);
  });
});
