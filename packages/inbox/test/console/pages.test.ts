import { describe, expect, test } from 'vitest';
import { aesGcm } from '../../src/index.ts';
import { callback, evidence, paid } from '../support/callbacks.ts';
import { EVERYTHING, formIn, formsIn, newConsoleShop, visit } from '../support/console.ts';
import { DAY_MS, MINUTE_MS, money, NOTE, newShop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const rowsIn = (html: string, list: string): string[] =>
  [...html.matchAll(new RegExp(`<tr id="${list}-([0-9a-f]{64})">`, 'g'))].map(([, id = '']) => id);

describe('the overview', () => {
  test('shows what needs a person first, what is overdue, and says when nothing is', async () => {
    const { inbox, pay, merchant } = await newConsoleShop();
    const visitor = visit(inbox);
    expect((await visitor.get('')).text).toContain('Nothing waits for a person.');
    await inbox.expect({ ...money('LATE'), deadline: new Date(0) });
    for (const reference of ['OK', 'DEAD-1', 'WRONG']) await inbox.expect(money(reference));
    await pay('OK');
    await pay('DEAD-1');
    await pay('WRONG', 7);
    await pay('NONE');
    await merchant.advance(MINUTE_MS);
    const { html, text } = await visitor.get('');
    expect([...html.matchAll(/<section class="stack" id="(\w+)/g)].map(([, id]) => id)).toEqual([
      'quarantined',
      'dead',
      'unhandled',
      'overdue',
    ]);
    expect(text).toContain('2 need a person 1 overdue');
    expect(text).toContain('LATE UGX 500');
  });

  test('warns when what is due is not worked on', async () => {
    const { inbox, merchant } = await newConsoleShop();
    await inbox.receive(paid('ORD-1', 500));
    expect((await visit(inbox).get('')).text).not.toContain('has been due');
    await merchant.advance(2 * MINUTE_MS);
    expect((await visit(inbox).get('')).text).toContain('Probably no process runs inbox.work().');
  });
});

describe('the list', () => {
  test('narrows by state and reason, finds either reference, and has pages', async () => {
    const { inbox, pay } = await newConsoleShop();
    for (let number = 0; number < 30; number += 1) {
      await inbox.receive(paid(`N-${number}`, 500));
    }
    await workOff(inbox);
    await inbox.expect(money('WRONG'));
    await pay('WRONG', 7);
    const visitor = visit(inbox);
    const first = await visitor.get('/transitions?state=unhandled');
    expect(rowsIn(first.html, 'transitions')).toHaveLength(25);
    const [, older = ''] = /href="[^"]*(\/transitions\?[^"]*after=[^"]*)">Older/.exec(first.html) ?? [];
    const second = await visitor.get(older.replaceAll('&amp;', '&'));
    expect(rowsIn(second.html, 'transitions')).toHaveLength(5);
    expect(second.html).not.toContain('>Older<');
    expect((await visitor.get('/transitions?state=quarantined&reason=amount_mismatch')).text).toContain(
      'WRONG',
    );
    for (const typed of ['N-3', 'INT-N-3', ' N-3 ']) {
      const found = await visitor.get(`/transitions?${new URLSearchParams({ reference: typed })}`);
      expect(rowsIn(found.html, 'transitions'), typed).toEqual([paid('N-3', 500).transitionId]);
    }
    expect((await visitor.get('/transitions?reference=N-')).text).toContain('Nothing arrived for “N-”.');
    for (const query of ['state=__proto__', 'after=1', 'reason=A']) {
      expect((await visitor.get(`/transitions?${query}`)).status, query).toBe(404);
    }
  });

  test('is downloaded whole, whatever page it is on', async () => {
    const { inbox } = await newConsoleShop();
    for (let number = 0; number < 30; number += 1) await inbox.receive(paid(`N-${number}`, 500));
    const { html, headers } = await visit(inbox).get('/transitions.csv?state=pending');
    expect(html.trimEnd().split('\r\n')).toHaveLength(31);
    expect(headers.get('content-disposition')).toBe('attachment; filename="transitions.csv"');
    await inbox.expect({ ...money('LATE'), deadline: new Date(0) });
    expect((await visit(inbox).get('/overdue.csv')).html).toContain('LATE,UGX,500,1970-01-01T00:00:00.000Z');
  });
});

describe('the story', () => {
  test('has every body beside the expectation, every attempt with its error, and who did what and why', async () => {
    const { inbox, pay } = await newConsoleShop();
    await inbox.expect(money('DEAD-1'));
    await pay('DEAD-1');
    await inbox.receive(paid('DEAD-1', 7));
    const { transitionId } = paid('DEAD-1', 500);
    await inbox.retry(transitionId, NOTE);
    await workOff(inbox);
    const { text, html } = await visit(inbox).get(`/transitions/${transitionId}`);
    expect(text).toContain('Requested UGX 500 as expected');
    expect(html).toContain('<mark><span class="amount">UGX 7</span></mark>');
    expect(text).toContain('Differences from body 1');
    expect(text).toContain('- "request_amount": 500, was + "request_amount": 7, added');
    expect(text).toContain('retry by dana confirmed in the dashboard of the service');
    expect(text.match(/Attempt 1 failed Error: the ledger <b>is<\/b> away/g)).toHaveLength(2);
    expect(text).toContain('Attempts 1');
    expect(text).toContain('All attempts failed Every attempt failed');
  });

  test('evidence has the rule that refused it, and other reports of the reference are listed', async () => {
    const { inbox } = await newConsoleShop();
    await inbox.quarantine(evidence('timestamp_out_of_tolerance', { merchant_reference: 'E' }));
    await inbox.receive(callback({ merchant_reference: 'E', transaction_status: 'FAILED' }));
    await workOff(inbox);
    const [one] = await inbox.list({ state: 'quarantined' });
    const { text, html } = await visit(inbox).get(`/transitions/${one?.transitionId}`);
    expect(text).toContain('A rule refuses it The signature is valid');
    expect(html).toContain('timestamp_out_of_tolerance');
    expect(rowsIn(html, 'others')).toHaveLength(1);
  });
});

describe('what a person can do', () => {
  test('a partial amount is accepted with a note, and is what is credited', async () => {
    const { inbox, merchant } = await newConsoleShop();
    await inbox.expect(money('PART'));
    await inbox.receive(paid('PART', 500, { transaction_amount: 300 }));
    await workOff(inbox);
    const path = `/transitions/${paid('PART', 500).transitionId}`;
    const visitor = visit(inbox);
    const page = await visitor.get(path);
    const [, digest = ''] = /<option value="([0-9a-f]{64}):transaction">/.exec(page.html) ?? [];
    const note = 'The service says that 300 was paid.';
    const done = await visitor.send(path, 'accept', { body: `${digest}:transaction`, note });
    expect(done.text).toContain('Accepted: the next free worker applies it.');
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['PART 300']);
    expect(await inbox.show(paid('PART', 500).transitionId)).toMatchObject({
      state: 'settled',
      expectation: { amount: '300', replaced: [{ amount: '500' }] },
      actions: [{ action: 'resolve', by: 'dana', note }],
    });
  });

  test('what is confirmed shows once, and not to the update of another page', async () => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const path = `/transitions/${paid('NONE', 500).transitionId}`;
    const visitor = visit(inbox);
    const { values } = formIn((await visitor.get(path)).html, 'resolve');
    await visitor.post(`${path}/resolve`, { ...values, note: 'not ours' });
    expect((await visitor.get('', { 'x-refresh': '1' })).text).not.toContain('Closed. ');
    expect((await visitor.get(path)).html).toContain('id="said">Closed.<');
    expect((await visitor.get(path)).html).toContain('id="said"><');
  });

  test('without a note, and after another person has closed it, the form says what is wrong and keeps what was typed', async () => {
    const { inbox, pay } = await newConsoleShop();
    await pay('NONE');
    const { transitionId } = paid('NONE', 500);
    const path = `/transitions/${transitionId}`;
    const visitor = visit(inbox);
    const empty = await visitor.send(path, 'retry', { note: ' ' });
    expect(empty.status).toBe(422);
    expect(empty.text).toContain('Say why, in at most 1000 characters.');
    const { values } = formIn((await visitor.get(path)).html, 'retry');
    await inbox.resolve(transitionId, NOTE);
    const late = await visitor.post(`${path}/retry`, { ...values, note: 'typed text' });
    expect(late.status).toBe(409);
    expect(late.text).toContain('Refused. Nothing was changed.');
    expect((await inbox.show(transitionId))?.actions).toHaveLength(1);
  });

  test('offers only what the state allows and the visitor may', async () => {
    const { inbox, pay } = await newConsoleShop();
    await inbox.expect(money('OK'));
    await pay('OK');
    await pay('NONE');
    const forms = async (reference: string, may = EVERYTHING): Promise<string[]> =>
      formsIn(
        (await visit(inbox, { by: 'dana', may }).get(`/transitions/${paid(reference, 500).transitionId}`))
          .html,
      );
    expect(await forms('OK')).toEqual(['reopen', 'forget']);
    expect(await forms('NONE')).toEqual(['accept', 'retry', 'resolve', 'forget']);
    expect(await forms('NONE', ['read', 'retry'])).toEqual(['retry']);
    expect(await forms('NONE', ['read'])).toEqual([]);
  });
});

describe('personal data', () => {
  test('is removed of all under a reference by a form with a note, for those who may', async () => {
    const { inbox, pay, show } = await newConsoleShop();
    await pay('NONE');
    const path = `/transitions/${paid('NONE', 500).transitionId}`;
    const visitor = visit(inbox);
    const { values } = formIn((await visitor.get(path)).html, 'forget');
    const other = visit(inbox, { by: 'kim', may: ['read', 'bodies', 'resolve'] });
    await other.get(path);
    const proof = formIn((await other.get(path)).html, 'resolve').values;
    expect((await other.post(`${path}/forget`, { ...proof, note: 'request 17' })).status).toBe(403);
    expect((await visitor.post(`${path}/forget`, { ...values, note: '' })).status).toBe(422);
    expect((await show('NONE'))?.bodies[0]?.text).toBeDefined();
    const done = await visitor.send(path, 'forget', { note: 'erasure request 17' });
    expect(done.text).toContain('The personal data of this payment was removed.');
    expect(done.text).toContain('The content was removed by prune() or forget().');
    expect(done.text).toContain('forget by dana erasure request 17');
    expect((await show('NONE'))?.bodies[0]?.text).toBeUndefined();
  });

  test('a body that is sealed, and cannot be opened here, is said to be sealed and not to be removed', async () => {
    const keys = { k1: Buffer.alloc(32, 1) };
    const { merchant, inbox, pay } = await newShop('sqlite', { encryption: aesGcm({ current: 'k1', keys }) });
    await pay('NONE');
    const path = `/transitions/${paid('NONE', 500).transitionId}`;
    const { text } = await visit(merchant.open()).get(path);
    expect(text).toContain('The content is encrypted, and the key is missing here');
    expect(text).not.toContain('The content was removed');
    expect((await visit(inbox).get(path)).text).toContain('The whole body'); // Control.
  });
});

describe('reconciling', () => {
  const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  const PERIOD = { from: day(-5), to: day(2) };
  const FIELDS = {
    ...{ merchant_reference: 'Reference', internal_reference: 'Id', transaction_status: 'State' },
    ...{ amount: 'Amount', transaction_type: '=COLLECTION', currency: '=UGX', paid: 'Successful' },
    ...{ separator: 'comma', note: 'January' },
  };
  const CSV = 'Id,Reference,State,Amount\r\nINT-A,A,Successful,500.00\r\nINT-B,B,Successful,500\r\n';
  const upload = (values: Record<string, string>, csv: string): FormData => {
    const form = new FormData();
    for (const [name, value] of Object.entries(values)) form.append(name, value);
    form.append('file', new Blob([csv], { type: 'text/csv' }), 'statement.csv');
    return form;
  };
  /** A is settled, and B is expected. */
  const newBooks = async () => {
    const shop = await newConsoleShop();
    for (const reference of ['A', 'B']) await shop.inbox.expect(money(reference));
    await shop.pay('A');
    return shop;
  };

  test('a statement is compared first, which changes nothing, and settles only what is confirmed', async () => {
    const { inbox, merchant } = await newBooks();
    const visitor = visit(inbox);
    const { values } = formIn((await visitor.get('/reconcile')).html, 'statement');
    const dry = await visitor.post('/reconcile', upload({ ...values, ...PERIOD, ...FIELDS }, CSV));
    expect(dry.status).toBe(200);
    expect(dry.text).toContain('2 rows; 1 would be settled by their rows.');
    expect(dry.text).toContain('Paid in the statement and expected here; no callback arrived.');
    expect(dry.text).toContain('Settle 1 payment');
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500']);
    const kept = formIn(dry.html, 'statement').values;
    const again = { ...kept, ...PERIOD, ...FIELDS, apply: 'yes' };
    const done = await visitor.post('/reconcile', upload(again, ''));
    expect(done.text).toContain('2 rows; 1 settled by their rows.');
    expect(done.text).not.toContain('Settle 1 payment');
    await workOff(inbox);
    expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
    expect(await inbox.show(paid('B', 500).transitionId)).toMatchObject({
      actions: [{ action: 'statement', by: 'dana', note: 'January' }],
    });
    const twice = await visitor.post('/reconcile', upload(again, ''));
    expect(twice.text).toContain('2 rows; 0 settled by their rows.');
  });

  test.each([
    ['a column that it lacks', { amount: 'Total' }, CSV, 'has no column'],
    ['a file that was cut off', {}, CSV.slice(0, -6), 'cannot be read'],
    ['no note', { note: '' }, CSV, 'note must be'],
    ['no period', { from: '' }, CSV, 'from must be'],
  ])(
    'a statement with %s settles nothing, and the form says what is wrong',
    async (_what, change, csv, says) => {
      const { inbox } = await newBooks();
      const visitor = visit(inbox);
      const { values } = formIn((await visitor.get('/reconcile')).html, 'statement');
      const given = { ...values, ...PERIOD, ...FIELDS, ...change, apply: 'yes' };
      const { status, text, html } = await visitor.post('/reconcile', upload(given, csv));
      expect(status).toBe(422);
      expect(text).toContain(says);
      expect(html).toContain('value="=COLLECTION"');
      expect(await inbox.list({ merchant_reference: 'B' })).toEqual([]);
    },
  );

  test('totals are shown, and what the recorded balances leave unexplained', async () => {
    const { inbox, merchant } = await newBooks();
    const balance = (actual_balance: string) =>
      inbox.recordBalances([
        { currency: 'UGX', wallet_type: 'MERCHANT_COLLECTION', exact: { actual_balance } },
      ]);
    const visitor = visit(inbox);
    const ask = (more: Record<string, string> = {}) =>
      visitor.get(`/reconcile?${new URLSearchParams({ ...PERIOD, ...more })}`);
    expect((await ask()).text).toContain('COLLECTION UGX 500 1');
    const credited = { before: '0', after: '0' };
    expect((await ask(credited)).text).toContain('Call recordBalances() regularly');
    await balance('1000');
    await merchant.query(`update ${merchant.table('balance')} set taken_at = taken_at - ${4 * DAY_MS}`);
    await balance('1490');
    const explained = await ask({ ...credited, charges: 'UGX=0..0.03' });
    expect(explained.text).toContain('MERCHANT_COLLECTION UGX explained');
    const less = await ask({ ...credited, charges: 'UGX=0' });
    expect(less.text).toContain('10 less than explained');
  });

  test('is nothing for a visitor who may not', async () => {
    const { inbox } = await newBooks();
    const visitor = visit(inbox, { by: 'kim', may: EVERYTHING.filter((one) => one !== 'reconcile') });
    const { values } = formIn(
      (await visitor.get(`/transitions/${paid('A', 500).transitionId}`)).html,
      'reopen',
    );
    expect((await visitor.get('')).html).not.toContain('/reconcile');
    expect((await visitor.get('/reconcile')).status).toBe(404);
    expect((await visitor.post('/reconcile', upload(values, CSV))).status).toBe(405);
  });

  test('takes no form of another page, and no file that is too long', async () => {
    const { inbox } = await newBooks();
    const visitor = visit(inbox);
    const { values } = formIn((await visitor.get('/reconcile')).html, 'statement');
    const foreign = await visitor.post('/reconcile', upload({ ...values, proof: 'x' }, CSV));
    expect(foreign.status).toBe(403);
    const long = { ...values, kept: 'x'.repeat(7 * 1024 * 1024) };
    expect((await visitor.post('/reconcile', long)).status).toBe(413);
  });
});

describe('actions in bulk', () => {
  test('shows what would be moved, and moves that and nothing that changed after it', async () => {
    const { inbox, merchant } = await newConsoleShop();
    for (let number = 0; number < 12; number += 1) await inbox.receive(paid(`N-${number}`, 500));
    await workOff(inbox);
    const visitor = visit(inbox);
    const list = await visitor.get('/transitions?state=unhandled&reason=no_expectation');
    expect(list.html).toContain('/bulk?action=resolve&amp;state=unhandled&amp;reason=no_expectation');
    const path = '/bulk?action=resolve&state=unhandled&reason=no_expectation';
    const preview = await visitor.get(path);
    expect(preview.text).toContain('Resolve 12 transitions');
    expect(rowsIn(preview.html, 'moved')).toHaveLength(10);
    expect((await inbox.stats()).states.unhandled).toBe(12);
    await merchant.advance(MINUTE_MS);
    await inbox.receive(paid('LATER', 500));
    await workOff(inbox);
    const { values } = formIn(preview.html, 'resolve');
    const done = await visitor.post('/bulk', { ...values, note: 'old' });
    expect(done.status).toBe(303);
    expect((await visitor.get('/transitions')).text).toContain('12 transitions closed.');
    const left = await inbox.list({ state: 'unhandled' });
    expect(left.map(({ signed }) => signed.merchant_reference)).toEqual(['LATER']);
  });

  test.each([
    ['without a state', '/bulk?action=resolve'],
    ['without an action', '/bulk?state=unhandled'],
    ['of another action', '/bulk?action=reopen&state=unhandled'],
  ])('is nothing %s', async (_name, path) => {
    const { inbox } = await newConsoleShop();
    expect((await visit(inbox).get(path)).status).toBe(404);
  });
});

describe('“I have paid”', () => {
  test.each([
    ['OK', 'Yes. The payment of UGX 500 has arrived'],
    ['INT-OK', 'Yes. The payment of UGX 500 has arrived'],
    ['DEAD-1', 'a colleague must check it before it counts. Please do not pay again.'],
    ['DUE', 'A report of this payment has arrived and is being entered.'],
    ['FAILED', 'No. The payment service reported that this payment failed.'],
    ['NONE', 'A report has this reference, but it was not applied to any order.'],
    ['WAITING', 'Not yet. The payment is expected, but no report of it has arrived.'],
    ['UNKNOWN', 'Nothing is known under this reference.'],
  ])('%s has an answer that support can read out', async (reference, answer) => {
    const { inbox, pay } = await newConsoleShop();
    for (const expected of ['OK', 'DEAD-1', 'WAITING']) await inbox.expect(money(expected));
    for (const one of ['OK', 'DEAD-1', 'NONE']) await pay(one);
    await inbox.receive(callback({ merchant_reference: 'FAILED', transaction_status: 'FAILED' }));
    await workOff(inbox);
    await inbox.receive(paid('DUE', 500));
    const { text } = await visit(inbox).get(`/paid?reference=${reference}`);
    expect(text).toContain(answer);
  });
});

test('an address that it does not have is a page that says so, and another method is refused', async () => {
  const { inbox } = await newConsoleShop();
  const visitor = visit(inbox);
  for (const path of ['/x', '/assets/../x', '/transitions/1', '/transitions/constructor']) {
    expect((await visitor.get(path)).status, path).toBe(404);
  }
});

test('the story shows which of several bodies was applied', async () => {
  const { inbox, merchant } = await newConsoleShop();
  await inbox.expect(money('OK'));
  await inbox.receive(paid('OK', 1));
  await inbox.receive(paid('OK', 500));
  await workOff(inbox);
  const { text } = await visit(inbox).get(`/transitions/${paid('OK', 500).transitionId}`);
  expect(text).toContain('equalled the expectation');
  expect(await merchant.credits()).toEqual(['OK 500']);
});
