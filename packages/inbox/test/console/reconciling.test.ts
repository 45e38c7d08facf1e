import { expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { EVERYTHING, formIn, newConsoleShop, pageOf, visit } from '../support/console.ts';
import { DAY_MS, money } from '../support/shop.ts';
import { workOff } from '../support/until.ts';

const day = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
const PERIOD = { from: day(-5), to: day(2) };
const FIELDS = {
  ...{ ...PERIOD, separator: 'comma', note: 'January' },
  ...{ merchant_reference: 'Reference', internal_reference: 'Id', transaction_status: 'State' },
  ...{ amount: 'Amount', transaction_type: '=COLLECTION', currency: '=UGX', paid: 'Successful' },
};
const CSV = 'Id,Reference,State,Amount\r\nINT-A,A,Successful,500.00\r\nINT-B,B,Successful,500\r\n';

/** A is settled, and B is expected; `upload` sends a statement with the form of the page. */
async function newBooks() {
  const { inbox, merchant, pay, show } = await newConsoleShop();
  for (const reference of ['A', 'B']) await inbox.expect(money(reference));
  await pay('A');
  const visitor = visit(inbox);
  const form = await visitor.fieldsOf('/reconcile', 'statement');
  const upload = (csv: string, fields: Record<string, string> = {}, from = visitor) => {
    const data = new FormData();
    for (const [name, value] of Object.entries({ ...form, ...FIELDS, ...fields })) data.append(name, value);
    data.append('file', new Blob([csv], { type: 'text/csv' }), 'statement.csv');
    return from.post('/reconcile', data);
  };
  return { inbox, merchant, show, visitor, upload };
}

test('a statement is compared first, which changes nothing, and settles only what is chosen', async () => {
  const { inbox, merchant, show, upload } = await newBooks();
  const dry = await upload(CSV);
  expect(dry.status).toBe(200);
  expect(dry.html).toContain('<div class="note wait"><strong>3 lines: 2 payments, 1 that is no payment.');
  expect(dry.text).toContain('The file has UGX 1,000 in. 1 payment (UGX 500) would be settled by this file.');
  expect(dry.text).toContain('Verdict Lines Meaning settled 1 Settled here, and paid in the statement');
  expect(dry.text).toContain('1 payment without a callback (UGX 500) B: UGX 500, line 3');
  const unnamed = await upload(CSV, { internal_reference: '' });
  expect(unnamed.text).toContain('B paid_without_callback 3 UGX 500 the line has no internal_reference');
  expect(unnamed.text).not.toContain('Settle the chosen payments');
  // Chosen is what the operator has ticked, and nothing is without it.
  const { values } = formIn(dry.html, 'statement');
  const none = await upload('', { ...values, apply: 'yes' });
  expect(none.text).toContain('Nothing was settled by this file.');
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['A 500']);
  const chosen = { ...values, apply: 'yes', only: paid('B', 500).transitionId };
  const done = await upload('', chosen);
  expect(done.html).toContain('<div class="note good"><strong>3 lines: 2 payments');
  expect(done.text).toContain('1 payment (UGX 500) was settled by this file.');
  expect(done.text).not.toContain('Settle the chosen payments');
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
  const actions = [{ action: 'statement', by: 'dana', note: 'January' }];
  expect(await show('B')).toMatchObject({ actions });
  expect((await upload('', chosen)).text).toContain('Nothing was settled by this file.');
  expect((await upload(CSV.replace(/INT-A.*\r\n/, ''))).text).toContain('A absent_from_statement');
});

test('a statement whose columns are not stated shows them, and the form proposes which is which', async () => {
  const { visitor, upload } = await newBooks();
  const nothing = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, '']));
  const { status, text, html } = await upload(CSV, { ...nothing, ...PERIOD });
  expect(status).toBe(200);
  expect(text).toContain('Which column is which? The form below proposes them by their names.');
  expect(text).toContain('#1 Id #2 Reference #3 State #4 Amount');
  for (const [name, column] of [
    ['merchant_reference', 'Reference'],
    ['internal_reference', 'Id'],
    ['transaction_status', 'State'],
    ['amount', 'Amount'],
  ])
    expect(html).toMatch(new RegExp(`name="${name}"[^>]* value="${column}"`));
  // The file is kept in the form.
  const { kept = '' } = formIn(html, 'statement').values;
  expect(Buffer.from(kept, 'base64').toString()).toBe(CSV);
  expect((await visitor.get('/reconcile')).html).not.toContain('name="bank"');
});

test('a bank is kept with a comparison, and is chosen in the next month', async () => {
  const { inbox, visitor, upload } = await newBooks();
  await upload(CSV, { keep: 'First Bank', in: 'Ein, Zu', headerAt: '1' });
  expect(await inbox.statementFormats()).toEqual({
    'First Bank': {
      map: {
        ...{ merchant_reference: 'Reference', internal_reference: 'Id' },
        ...{ transaction_status: 'State', amount: 'Amount' },
      },
      set: { transaction_type: 'COLLECTION', currency: 'UGX' },
      ...{ paid: 'Successful', in: ['Ein', 'Zu'], separator: 'comma', headerAt: 1 },
    },
  });
  expect((await visitor.get('/reconcile')).text).toContain('stated below First Bank');
  const nothing = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, '']));
  const next = await upload(CSV, { ...nothing, ...PERIOD, bank: 'First Bank' });
  expect(next.text).toContain('1 payment (UGX 500) would be settled by this file.');
  expect(next.html).toMatch(/name="transaction_type"[^>]* value="=COLLECTION"/);
  expect(next.html).toMatch(/name="in"[^>]* value="Ein,Zu"/);
  // What the reader then changes in the form counts.
  expect(next.html).toContain('<option value="" selected>stated below</option>');
});

test('the verdict of each line of a statement can be downloaded, in the order of the file', async () => {
  const { upload } = await newBooks();
  const lines = ['INT-X,=1+1,Successful,1.000', ',,,', 'INT-B,B,Successful,500', 'INT-A,A,Successful,500'];
  const { status, headers, html } = await upload(['Id,Reference,State,Amount', ...lines].join('\n'), {
    download: 'yes',
  });
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(html.split('\r\n').map((line) => line.split(',').slice(0, 4).join(','))).toEqual([
    'line,is,verdict,merchant_reference',
    '1,not_a_payment,heading,',
    "2,not_understood,ambiguous_amount,'=1+1",
    '3,not_a_payment,blank,',
    '4,payment,paid_without_callback,B',
    '5,payment,settled,A',
    '',
  ]);
});

test('a statement without a column, its end, a note or a period settles nothing, and the form says what is wrong', async () => {
  const { inbox, upload } = await newBooks();
  for (const [change, csv, says] of [
    [{ amount: 'Total' }, CSV, 'no line with all columns'],
    [{}, `${CSV}INT-C"x,C`, 'cannot be read'],
    [{}, '%PDF-1.7', 'The statement is a PDF, not CSV.'],
    [{ statuses: 'x' }, CSV, 'statuses'],
    [{ note: '' }, CSV, 'note must be'],
    [{ from: '' }, CSV, 'from must be'],
  ] as const) {
    const { status, text, html } = await upload(csv, { ...change, apply: 'yes' });
    expect(status).toBe(422);
    expect(text).toContain(says);
    expect(html).toContain('value="=COLLECTION"');
  }
  expect(await inbox.reports({ merchant_reference: 'B' })).toEqual([]);
});

test('what the recorded balances leave unexplained is shown', async () => {
  const { inbox, merchant, visitor } = await newBooks();
  const balance = (actual_balance: string) =>
    inbox.recordBalances([
      { currency: 'UGX', wallet_type: 'MERCHANT_COLLECTION', exact: { actual_balance } },
    ]);
  const ask = (more: Record<string, string> = {}) =>
    visitor.get(`/reconcile?${new URLSearchParams({ ...PERIOD, ...more })}`);
  const credited = { before: '0', after: '0' };
  await balance('1000');
  await merchant.query(`update ${merchant.table('balance')} set taken_at = taken_at - ${4 * DAY_MS}`);
  await balance('1490');
  const explained = await ask({ ...credited, charges: 'UGX=0..0.03' });
  expect(explained.text).toContain('MERCHANT_COLLECTION UGX Explained');
  expect(explained.html).toMatch(/<span class="state good">(?:(?!<span).)*Explained</);
  const less = await ask({ ...credited, charges: 'UGX=0' });
  expect(less.text).toContain('10 less than explained');
  expect(less.html).toMatch(/<span class="state bad">(?:(?!<span).)*Less</);
});

test('a visitor without the right to reconcile finds no link to the page, and there the name of the right', async () => {
  const { inbox, upload } = await newBooks();
  const visitor = visit(inbox, { by: 'kim', may: EVERYTHING.filter((one) => one !== 'reconcile') });
  const fields = await visitor.fieldsOf(pageOf('A'), 'applyAgain');
  expect((await visitor.get('')).html).not.toContain('/reconcile');
  expect(await visitor.get('/reconcile')).toMatchObject({
    status: 403,
    text: expect.stringContaining('This page needs the permission reconcile, which kim does not have.'),
  });
  expect(await upload(CSV, fields, visitor)).toMatchObject({
    status: 403,
    text: expect.stringContaining('This needs the permission "reconcile".'),
  });
});

test('a statement with the form of another page is refused, and so is a file that is too long', async () => {
  const { inbox, visitor, upload } = await newBooks();
  expect((await upload(CSV, { proof: 'x' })).status).toBe(403);
  const fields = await visitor.fieldsOf('/reconcile', 'statement');
  const kept = 'x'.repeat(7 * 1024 * 1024);
  expect((await visitor.post('/reconcile', { ...fields, kept })).status).toBe(413);
  expect(await inbox.report(paid('B', 500).transitionId)).toBeUndefined();
});
