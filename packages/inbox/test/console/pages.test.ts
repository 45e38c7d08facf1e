import { expect, test } from 'vitest';
import { aesGcm } from '../../src/index.ts';
import { dayIn } from '../../src/time-zone.ts';
import { evidence, paid } from '../support/callbacks.ts';
import { commandOn } from '../support/command.ts';
import {
  BASE,
  choiceIn,
  formIn,
  formsIn,
  newConsoleShop,
  pageOf,
  unescaped,
  visit,
} from '../support/console.ts';
import { MINUTE_MS, money, newShop } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const rowsIn = (html: string, list: string): string[] =>
  [...html.matchAll(new RegExp(`<tr id="${list}-[0-9a-f]{12}">.*?<a href="[^"]*">([^<]*)<`, 'gs'))].map(
    ([, reference = '']) => reference,
  );

/** A console with a number of payments that are not expected. */
async function newLongList(count: number) {
  const shop = await newConsoleShop();
  for (let number = 0; number < count; number += 1)
    await shop.inbox.route.onCallback(paid(`N-${number}`, 500));
  await workOff(shop.inbox);
  return { ...shop, visitor: visit(shop.inbox) };
}

test('the list shows first what needs a person, narrows, finds either reference, has pages, and is downloaded whole', async () => {
  const { inbox, pay, visitor } = await newLongList(60);
  for (const reference of ['WRONG', 'OPEN', 'PAID']) await inbox.expect(money(reference, '500.5'));
  await pay('WRONG', 7);
  await pay('PAID', 500.5);
  const first = await visitor.get('/payments');
  expect(first.text).toContain('Payments that need a person');
  expect(rowsIn(first.html, 'payments')).toHaveLength(50);
  const [, older = ''] = /href="[^"]*(\/payments\?[^"]*after=[^"]*)">Older/.exec(first.html) ?? [];
  const second = await visitor.get(older.replaceAll('&amp;', '&'));
  const [on, then] = [first, second].map(({ html }) => rowsIn(html, 'payments'));
  expect(new Set([...(on ?? []), ...(then ?? [])]).size).toBe(61);
  expect(second.html).not.toContain('>Older<');
  const all = await visitor.get('/payments?state=all&search=e');
  expect(rowsIn(all.html, 'payments')).toEqual(['OPEN']);
  const today = new Date().toISOString().slice(0, 10);
  const found = async (query: string): Promise<string[]> =>
    rowsIn((await visitor.get(`/payments?${query}`)).html, 'payments').toSorted();
  expect(await found('state=paid')).toEqual(['PAID']);
  expect(await found('reason=amount_mismatch')).toEqual(['WRONG']);
  for (const typed of ['n-3%', '%25']) expect(await found(`search=${typed}`), typed).toEqual([]);
  for (const typed of ['wron', 'INT-WRONG', '+wrong+'])
    expect(await found(`search=${typed}`), typed).toEqual(['WRONG']);
  expect(await found(`search=pa&since=${today}&until=${today}`)).toEqual(['PAID']);
  expect(await found('search=pa&until=2020-01-01')).toEqual([]);
  expect((await visitor.get('/payments?search=a')).text).toContain(
    '1 payment. list sums Type Payments Expected Credited COLLECTION 1 UGX 500.5 UGX 500.5',
  );
  for (const wrong of ['since=yesterday', 'state=__proto__', 'reason=A', 'until=%2b275760-09-13'])
    expect((await visitor.get(`/payments?${wrong}`)).status, wrong).toBe(404);
  // What is paid now is of tomorrow where clocks are 14 hours ahead, unless it is early in the day of UTC.
  const ahead = visit(inbox, undefined, { timeZone: 'Pacific/Kiritimati' });
  const there = dayIn('Pacific/Kiritimati', Date.now());
  const path = `/payments?state=paid&since=${there}&until=${there}`;
  expect(rowsIn((await ahead.get(path)).html, 'payments')).toEqual(['PAID']);
  expect((await ahead.get(path)).text).toContain(`${there}, both days included (Pacific/Kiritimati)`);
  expect((await ahead.get('')).text).toContain('credited today (Pacific/Kiritimati), 1 payment');
  // It is downloaded whole, whatever page it is on.
  const { html, headers } = await visitor.get('/payments.csv?state=needed');
  expect(html.trimEnd().split('\r\n')).toHaveLength(62);
  expect((await visitor.get('/payments.csv?state=paid')).html).toContain(
    'PAID,COLLECTION,paid,,,,UGX,500.5,,UGX,500.5,',
  );
  expect(headers.get('content-disposition')).toBe('attachment; filename="payments.csv"');
});

test('a payment leads to its order, whose list says what is paid of it', async () => {
  const { inbox, pay } = await newConsoleShop();
  const order = { id: 'INV/7 <b>', total: 1000 };
  for (const reference of ['A', 'B', 'C']) await inbox.expect({ ...money(reference), order });
  await inbox.expect(money('OTHER'));
  for (const reference of ['A', 'B', 'C']) await pay(reference);
  const visitor = visit(inbox);
  const { html } = await visitor.get(pageOf('C'));
  const [, path = ''] = /href="[^"]*(\/payments\?order=[^"]*)">INV\/7 &lt;b&gt;</.exec(html) ?? [];
  const list = await visitor.get(path);
  expect(rowsIn(list.html, 'payments').toSorted()).toEqual(['A', 'B', 'C']);
  expect(list.text).toContain('UGX 1,000 of UGX 1,000 is paid for order INV/7 <b>.');
  expect((await visitor.get(`${path}&state=held`)).text).not.toContain('is paid for order');
});

test('the overview never adds a payout to what came in', async () => {
  const { inbox, pay } = await newConsoleShop();
  await inbox.expect(money('IN', 900));
  await inbox.expect({ ...money('OUT', 400), transaction_type: 'PAYOUT' });
  await pay('IN', 900);
  await pay('OUT', 400, { transaction_type: 'PAYOUT' });
  const { html } = await visit(inbox).get('');
  const [, today = ''] = /id="today"[^>]*>(.*?)<div/s.exec(html) ?? [];
  expect([...today.matchAll(/<strong[^>]*>(.*?)<\/strong>/g)].map(([, text]) => text).toSorted()).toEqual([
    'UGX 400, PAYOUT',
    'UGX 900',
  ]);
});

test('a partial amount is accepted with a note, and is what is credited', async () => {
  const { inbox, merchant } = await newConsoleShop();
  await inbox.expect(money('PART'));
  await inbox.route.onCallback(paid('PART', 500, { transaction_amount: 300 }));
  await workOff(inbox);
  const visitor = visit(inbox);
  const { html, text } = await visitor.get(pageOf('PART'));
  expect(text).toContain('You may tell the customer We are checking your payment.');
  expect(text).toContain('Credits UGX 300 in place of UGX 500.');
  expect(formsIn(html)).toEqual(['accept', 'retry', 'close', 'expect', 'forget']);
  const note = 'The service says that 300 was paid.';
  const done = await visitor.send(pageOf('PART'), 'accept', { note });
  expect(done.text).toContain(
    'Accepted: UGX 300. Nothing was credited yet. The next free worker checks a report.',
  );
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['PART 300']);
  const paidIn = await visitor.get(pageOf('PART'));
  expect(paidIn.text).toContain(`Paid: UGX 300 was credited`);
  expect(paidIn.text).toContain(`Accepted by dana ${note}`);
  expect(paidIn.text).toContain(`Accepted by dana: ${note}`);
  expect(paidIn.text).not.toContain('equalled the expectation');
  expect(formsIn(paidIn.html)).toEqual(['forget', 'applyAgain']);
});

test('an amount of ten times what is expected, a tenth of it or in another currency is not preselected, and is typed again', async () => {
  const { inbox, merchant } = await newConsoleShop();
  const visitor = visit(inbox);
  const KES = { request_currency: 'KES', transaction_currency: 'KES' };
  const note = 'The service says so.';
  const cases = [
    ['MANY', 5000, {}, 'UGX 5,000'],
    ['FEW', 50, {}, 'UGX 50'],
    ['OTHER', 500, KES, 'KES 500'],
  ] as const;
  for (const [reference, amount, payload, shown] of cases) {
    await inbox.expect(money(reference));
    await inbox.route.onCallback(paid(reference, amount, payload));
    await workOff(inbox);
    const { html } = await visitor.get(pageOf(reference));
    const { values } = formIn(html, 'accept');
    expect(values['act'], reference).toBe('');
    const act = choiceIn(html, 'accept', `${shown}: COMPLETED`);
    for (const again of ['', '500', '5001', `${amount}.5`]) {
      if (again === String(amount)) continue;
      const refused = await visitor.post('/act/accept', { ...values, act, note, again });
      expect([refused.status, again], reference).toEqual([422, again]);
      expect(refused.text).toContain(`${shown} is far from the expected UGX 500. Type ${amount} here`);
    }
    expect(await merchant.credits()).not.toContain(`${reference} ${amount}`);
    const done = await visitor.post('/act/accept', { ...values, act, note, again: ` ${amount}.00` });
    expect(done.status).toBe(303);
    await workOff(inbox);
    expect(await merchant.credits()).toContain(`${reference} ${amount}`);
    expect((await visitor.get(pageOf(reference))).text).toContain(`${shown} was credited to ${reference}.`);
  }
});

test('another amount that is far from what is expected is typed again; one that is close is not', async () => {
  const { inbox } = await newConsoleShop();
  await inbox.expect(money('SLIP'));
  const visitor = visit(inbox);
  const state = (fields: object) =>
    visitor.send(pageOf('SLIP'), 'expect', { currency: 'UGX', compare: 'both', note: 'slip', ...fields });
  expect((await state({ amount: '5000' })).status).toBe(422);
  expect((await inbox.payment('SLIP'))?.expected?.amount).toBe('500');
  const done = await state({ amount: '5000', again: '5,000' });
  expect(done.text).toContain('UGX 5,000 is expected now');
  expect(done.text).toContain('Nothing was credited to SLIP.');
  expect((await state({ amount: '4999' })).text).toContain('UGX 4,999 is expected now');
});

test('the usual act of a reason is first and open, and none is open where nothing has to be done', async () => {
  const { inbox, pay } = await newConsoleShop('NONE');
  for (const reference of ['OK', 'DEAD-1']) {
    await inbox.expect(money(reference));
    await pay(reference);
  }
  await inbox.expect({ ...money('LATE'), deadline: new Date(0) });
  const visitor = visit(inbox);
  const openIn = async (reference: string): Promise<string[]> => {
    const { html } = await visitor.get(pageOf(reference));
    return [...html.matchAll(/<details class="card single" id="act-(\w+)" open>/g)].map(
      ([, name = '']) => name,
    );
  };
  expect(await openIn('DEAD-1')).toEqual(['retry']);
  expect(await openIn('LATE')).toEqual(['cancel']);
  expect(await openIn('NONE')).toEqual(['expect']);
  expect(await openIn('OK')).toEqual([]);
  await pay('OK', 500, { internal_reference: 'INT-2' });
  expect(await openIn('OK')).toEqual(['close']);
});

test('a month is downloaded in two clicks, with what the credited body claims as its charge', async () => {
  const { inbox, pay } = await newConsoleShop();
  await inbox.expect(money('PAID'));
  await pay('PAID', 500, { transaction_charge: 12.5 });
  const visitor = visit(inbox);
  const links = (html: string, label: string): string | undefined =>
    [...html.matchAll(/<a class="button" href="([^"]*)"[^>]*>([^<]*)</g)].find(
      ([, , text]) => text === label,
    )?.[1];
  for (const from of ['', '/payments']) {
    const month = unescaped(links((await visitor.get(from)).html, 'This month') ?? '').slice(BASE.length);
    const shown = await visitor.get(month);
    expect(rowsIn(shown.html, 'payments')).toEqual(['PAID']);
    const file = unescaped(links(shown.html, 'Download CSV') ?? '').slice(BASE.length);
    const [head = '', row = ''] = (await visitor.get(file)).html.split('\r\n');
    expect([head.split(',').at(-1), row.split(',').at(-1)]).toEqual(['charge_claimed_not_signed', '12.5']);
    const before = unescaped(links(shown.html, 'Last month') ?? '').slice(BASE.length);
    expect((await visitor.get(before)).text).toContain('No payment is in this list.');
  }
});

test('several acts of one name are one form, whose choice carries the revision that the page showed', async () => {
  const { inbox, merchant } = await newConsoleShop();
  for (const amount of [500, 700]) await inbox.route.onCallback(paid('TWO', amount));
  await workOff(inbox);
  const visitor = visit(inbox);
  const { html } = await visitor.get(pageOf('TWO'));
  const { values } = formIn(html, 'accept');
  const own = { ...values, note: 'asked', act: choiceIn(html, 'accept', 'UGX 700: COMPLETED of INT-TWO') };
  const late = await visitor.post('/act/accept', { ...own, revision: 'earlier' });
  expect(late.status).toBe(409);
  // What was chosen stays chosen.
  expect(late.html).toMatch(/<option value="[^"]*" selected>UGX 700: COMPLETED of INT-TWO/);
  expect((await visitor.post('/act/accept', own)).status).toBe(303);
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['TWO 700']);
});

test('what is confirmed shows once, and not to the update of another page', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const visitor = visit(inbox);
  const fields = await visitor.fieldsOf(pageOf('NONE'), 'close');
  await visitor.post('/act/close', { ...fields, note: 'not ours' });
  expect((await visitor.get('', { 'x-refresh': '1' })).text).not.toContain('Closed: ');
  expect((await visitor.get(pageOf('NONE'))).html).toContain('id="said">Closed: nothing is credited');
  expect((await visitor.get(pageOf('NONE'))).html).toContain('id="said"><');
});

test('without a note, and after another operator has closed it, the form says what is wrong and keeps what was typed', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const path = pageOf('NONE');
  const visitor = visit(inbox);
  for (const note of [' ', 'typed '.repeat(200)]) {
    const { status, text, html } = await visitor.send(path, 'retry', { note });
    expect(status).toBe(422);
    expect(text).toContain('Say why, in at most 1000 characters.');
    expect(html).toContain(note);
  }
  for (const currency of ['', 'UGX']) {
    const { status, html } = await visitor.send(path, 'expect', { note: 'typed', currency, amount: '5x' });
    expect([status, html.includes('value="5x"')]).toEqual([422, true]);
  }
  const fields = await visitor.fieldsOf(path, 'retry');
  await visit(inbox).send(path, 'close', { note: 'by another' });
  const late = await visitor.post('/act/retry', { ...fields, note: 'typed text' });
  expect(late.status).toBe(409);
  expect(late.text).toContain('Refused. Nothing was changed.');
  expect(late.text).toContain('Report closed by dana by another');
  expect((await inbox.payment('NONE'))?.actions).toHaveLength(1);
});

test('the typed note stays in the form that is refused, if the payment still has it', async () => {
  const { inbox, pay } = await newConsoleShop('NONE');
  const visitor = visit(inbox);
  const fields = await visitor.fieldsOf(pageOf('NONE'), 'close');
  await pay('NONE', 600);
  const late = await visitor.post('/act/close', { ...fields, note: 'typed text' });
  expect(late.status).toBe(409);
  expect(late.html).toMatch(/id="close-note"[^>]* value="typed text"/);
});

test('another amount is stated by a form, and what waits for it is credited; what is gone is canceled', async () => {
  const { inbox, merchant } = await newConsoleShop('NONE');
  const visitor = visit(inbox);
  const stated = { currency: 'UGX', amount: '500.00', compare: 'both', note: 'It is ours.' };
  const done = await visitor.send(pageOf('NONE'), 'expect', stated);
  expect(done.text).toContain('UGX 500.00 is expected now');
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['NONE 500']);
  await inbox.expect(money('GONE'));
  const canceled = await visitor.send(pageOf('GONE'), 'cancel', { note: 'The order is gone.' });
  expect(canceled.text).toContain('Canceled: UGX 500 is no longer expected.');
  expect(canceled.text).toContain('Canceled by dana The order is gone.');
});

test('“I have paid” answers for either reference and for another type, and for one that is not known', async () => {
  const { inbox, pay } = await newConsoleShop();
  for (const reference of ['YES', 'NOT YET']) await inbox.expect(money(reference));
  await inbox.expect({ ...money('OUT'), transaction_type: 'PAYOUT' });
  await inbox.expect(money('SOON'));
  await pay('YES');
  await inbox.route.onCallback(paid('SOON', 500));
  await inbox.route.onCallback(paid('NEW', 500));
  await inbox.route.onAuthenticRefusal(evidence('ambiguous'));
  const visitor = visit(inbox);
  const answer = async (reference: string): Promise<string> =>
    (await visitor.get(`/payment?${new URLSearchParams({ reference })}`)).text;
  for (const yes of ['YES', 'INT-YES', ' YES '])
    expect(await answer(yes)).toContain('Your payment of UGX 500 has arrived.');
  expect(await answer('NOT YET')).toContain('We have not received your payment yet.');
  expect(await answer('OUT')).toContain('Not paid yet: UGX 500 is expected.');
  for (const soon of ['SOON', 'NEW'])
    expect(await answer(soon)).toContain(
      'A report of your payment has arrived and is being entered. Please do not pay again.',
    );
  expect(await answer('ORD:1001')).toContain('it belongs to no payment');
  expect((await visitor.get('')).text).toContain('Reports that belong to no payment');
  for (const none of ['OTHER', 'yes', '', '"', '\0'])
    expect(await answer(none), none).toContain('Nothing is known under this reference.');
});

test('personal data is removed of all under a reference by a form with a note', async () => {
  const { inbox, show } = await newConsoleShop('NONE');
  const path = pageOf('NONE');
  const visitor = visit(inbox);
  const fields = await visitor.fieldsOf(path, 'forget');
  expect((await visitor.post('/act/forget', { ...fields, note: '' })).status).toBe(422);
  expect((await show('NONE'))?.bodies[0]?.text).toBeDefined();
  const done = await visitor.send(path, 'forget', { note: 'erasure request 17' });
  expect(done.text).toContain('The personal data of this payment was removed.');
  expect(done.text).toContain('Personal data removed by dana erasure request 17');
  expect((await show('NONE'))?.bodies[0]?.text).toBeUndefined();
});

test('a body that is sealed, and cannot be opened here, is said to be sealed and not to be removed', async () => {
  const keys = { k1: Buffer.alloc(32, 1) };
  const { merchant, inbox, pay } = await newShop('sqlite', { encryption: aesGcm({ current: 'k1', keys }) });
  await pay('NONE');
  const { text } = await visit(merchant.open()).get(pageOf('NONE'));
  expect(text).toContain('The content is encrypted, and the key is missing here');
  expect(text).not.toContain('The content was removed');
  expect((await visit(inbox).get(pageOf('NONE'))).text).toContain('The whole body'); // Control.
});

test('threat A66: a body that is not encrypted is said to be so where others are, on the page and by the command', async () => {
  const keys = { k1: Buffer.alloc(32, 1) };
  const { merchant, inbox, pay } = await newShop('sqlite', { encryption: aesGcm({ current: 'k1', keys }) });
  await pay('NONE');
  await pay('NONE', 501);
  const id = paid('NONE', 500).transitionId;
  const said = 'The content is not encrypted';
  const { run } = commandOn(merchant);
  const pages = async (): Promise<boolean[]> => {
    const { text } = await visit(inbox).get(pageOf('NONE'));
    return [text, (await run('report', id)).stdout].map((each) => each.includes(said));
  };
  const unsealed = async (): Promise<boolean[] | undefined> =>
    (await inbox.report(id))?.bodies.map(({ isUnsealed }) => isUnsealed);
  expect([await unsealed(), await pages()]).toEqual([
    [false, false],
    [false, false],
  ]);
  const written = JSON.stringify({ payload: { customer_name: 'Written by hand' } });
  const body = merchant.table('body');
  await merchant.query(`update ${body} set content = $1 where digest = (select min(digest) from ${body})`, [
    written,
  ]);
  expect((await unsealed())?.sort()).toEqual([false, true]);
  expect(await pages()).toEqual([true, true]);
});

test('the preview of an act in bulk shows what would be changed, and changes that and nothing that changed after it', async () => {
  const { inbox, pay, merchant, visitor } = await newLongList(12);
  const list = await visitor.get('/payments?state=needed&reason=no_expectation');
  expect(list.html).toContain('/acts?act=close&amp;reason=no_expectation');
  const preview = await visitor.get('/acts?act=close&reason=no_expectation');
  expect(preview.text).toContain('Close all: 12 payments');
  expect(rowsIn(preview.html, 'acted')).toHaveLength(10);
  expect(await inbox.counts()).toMatchObject({ needed: 12 });
  await merchant.advance(MINUTE_MS);
  await pay('LATER');
  // A further delivery changes neither the state nor the reason.
  await inbox.route.onCallback(paid('N-3', 500));
  const { values } = formIn(preview.html, 'close');
  expect((await visitor.post('/acts/close', { ...values, note: '' })).status).toBe(422);
  expect((await visitor.post('/acts/close', { ...values, note: 'old' })).status).toBe(303);
  expect((await visitor.get('/payments')).text).toContain(
    '12 reports closed. Nothing was credited from them.',
  );
  const { items } = await inbox.payments({ needed: true });
  expect(items.map(({ merchant_reference }) => merchant_reference)).toEqual(['LATER']);
});

test('an address that the console does not have is a page that says so, and one that has moved leads to the new one', async () => {
  const { inbox } = await newConsoleShop('NONE');
  const visitor = visit(inbox);
  const id = paid('NONE', 500).transitionId;
  const bulk = ['act=close', 'reason=no_handler', 'act=accept&reason=no_handler'].map(
    (query) => `/acts?${query}`,
  );
  for (const path of [
    ...bulk,
    '/x',
    '/assets/../x',
    '/transitions/1',
    `/transitions/${'0'.repeat(64)}`,
    '/act/close',
    '/payments.csv?state=x',
  ])
    expect((await visitor.get(path)).status, path).toBe(404);
  for (const [old, now] of [
    ['/transitions?reference=A', '/payments?search=A'],
    [`/transitions/${id}`, pageOf('NONE')],
    ['/overdue', '/payments?state=overdue'],
    ['/overdue.csv', '/payments.csv?state=overdue'],
    ['/paid?reference=A+B', '/payment?reference=A+B'],
    ['/bulk?action=resolve&state=unhandled&reason=no_handler', '/payments?state=needed&reason=no_handler'],
  ] as const) {
    const { status, headers } = await visitor.get(old);
    expect([status, headers.get('location')], old).toEqual([308, BASE + now]);
  }
});
