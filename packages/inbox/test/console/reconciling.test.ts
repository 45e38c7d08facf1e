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

test('a statement is compared first, which changes nothing, and settles only what is confirmed', async () => {
  const { inbox, merchant, show, upload } = await newBooks();
  const dry = await upload(CSV);
  expect(dry.status).toBe(200);
  expect(dry.html).toContain('<div class="note wait"><strong>2 rows; 1 would be settled by their rows.');
  expect(dry.text).toContain(
    'Verdict Rows Meaning settled 1 Settled here, and paid in the statement, with the same money. ' +
      'paid_without_callback 1 Paid in the statement and expected here; no callback arrived. ' +
      'findings Reference Verdict Row Detail B paid_without_callback 2 Statement CSV',
  );
  const unnamed = await upload(CSV, { internal_reference: '' });
  expect(unnamed.text).toContain('B paid_without_callback 2 the row has no internal_reference');
  expect(dry.text).toContain('Settle 1 payment');
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['A 500']);
  const confirmed = { ...formIn(dry.html, 'statement').values, apply: 'yes' };
  const done = await upload('', confirmed);
  expect(done.text).toContain('2 rows; 1 settled by their rows.');
  expect(done.text).not.toContain('Settle 1 payment');
  await workOff(inbox);
  expect(await merchant.credits()).toEqual(['A 500', 'B 500']);
  const actions = [{ action: 'statement', by: 'dana', note: 'January' }];
  expect(await show('B')).toMatchObject({ actions });
  expect(done.html).toContain('<div class="note good"><strong>2 rows; 1 settled');
  expect((await upload('', confirmed)).text).toContain('2 rows; 0 settled by their rows.');
  const compared = await upload(CSV);
  expect(compared.text).toContain('2 rows; 0 would be settled by their rows.');
  expect(compared.text).not.toContain('Settle 0 payments');
  expect((await upload(CSV.replace(/INT-A.*\r\n/, ''))).text).toContain(
    'A absent_from_statement Statement CSV',
  );
});

test('a statement without a column, its end, a note or a period settles nothing, and the form says what is wrong', async () => {
  const { inbox, upload } = await newBooks();
  for (const [change, csv, says] of [
    [{ amount: 'Total' }, CSV, 'no line with all columns'],
    [{}, CSV.slice(0, -6), 'cannot be read'],
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
