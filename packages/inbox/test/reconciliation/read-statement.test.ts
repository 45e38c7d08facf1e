/** Statements as banks and wallets export them. */
import { expect, test } from 'vitest';
import { isAmbiguousAmount, plainAmount } from '../../src/reconciliation/amount-text.ts';
import { chargesIn, kindsIn, pairsIn } from '../../src/reconciliation/pairs.ts';
import { readStatement, type StatementFormat } from '../../src/reconciliation/read-statement.ts';
import type { StatementRow } from '../../src/reconciliation/statement.ts';
import { allOf, expectSameRows, MAP, SET } from '../support/statement-files.ts';

const rowsOf = async (source: Uint8Array, format: StatementFormat): Promise<StatementRow[]> =>
  allOf((await readStatement(source, format)).rows);

// Threat A56: a file that was cut off, or has another format.
const simple = { map: MAP, set: SET, paid: 'paid' };
const HEADER = 'Réf,State,Betrag\n';
const of = (lines: string): Buffer => Buffer.from(HEADER + lines);

test('a statement is read as the same rows in every separator, notation, encoding and layout', async () => {
  await expectSameRows(100);
});

test('a statement is read as its rows are asked for, whatever its length', async () => {
  let [read, rows] = [0, 0];
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(HEADER);
    for (; read < 2000; read += 1) yield Buffer.from('A,paid,5\n'.repeat(100));
  }
  for await (const _ of (await readStatement(pieces(), simple)).rows) if (++rows === 100) break;
  expect(read).toBeLessThan(1000);
});

test('a statement without a stated mark, an amount stays as it is, and may be ambiguous', async () => {
  const ambiguous = ['1.000', '1,000', '1.000.000'];
  for (const amount of [...ambiguous, '500,00', '1 000', '500.00']) {
    const [row] = await rowsOf(of(`A,paid,"${amount}"`), simple);
    expect(row?.amount).toBe(amount);
    expect(isAmbiguousAmount(amount), amount).toBe(ambiguous.includes(amount));
  }
});

test('a statement text that is no amount with a stated mark has none', () => {
  const point = ["1'000 000", '1.5.0', '12,34', '5e2', '-5', 'USD 5', 'EUR 5 EUR', '$5', ''];
  for (const [decimal, texts] of Object.entries({ comma: ['1.00.000', '1.000,', '1,5,0'], point }))
    for (const text of texts)
      expect(plainAmount(text, { decimal: decimal as 'point', currency: 'EUR' }), text).toBeUndefined();
});

const MISPLACED = /^Line \d of the statement cannot be read: a quotation mark or a line break/;
test.each([
  [
    'cut off',
    'A,paid',
    /^Line 2 of .* cannot be read: it has 2 fields, and the header has 3\. Nothing was applied\./,
  ],
  ['cut off early', 'A,paid,5\nB', /^Line 3 of the statement cannot be read: it has 1 fields/],
  ['too long', 'A,paid,5,6', /it has 4 fields/],
  ['quoted without an end', 'A,paid,"5\nB,paid,6', MISPLACED],
  ['quoted in part', 'A,"paid"x,5', MISPLACED],
])('a statement with a record that is %s is refused', async (_what, lines, says) => {
  const message = expect.stringMatching(says);
  await expect(rowsOf(of(lines), simple)).rejects.toMatchObject({ option: 'statement', message });
});

test.each<[string, string | Buffer, Partial<StatementFormat>]>([
  ['map', 'Ref;State;Betrag\nA;paid;5\n', {}],
  ['map', HEADER, { headerAt: 2 }],
  ['statement', 'Réf,Réf,State,Betrag\n', {}],
  ['encoding', Buffer.from('Réf,State,Betrag\n', 'latin1'), {}],
  ['encoding', `\ufeff${HEADER}`, { encoding: 'utf-16le' }],
  ['separator', 'Réf', { map: { merchant_reference: 'Réf' } }],
  ['decimal', HEADER, { decimal: ',' as 'comma' }],
])('a statement that does not fit is refused, and names the option %s', async (option, file, more) => {
  await expect(rowsOf(Buffer.from(file), { ...simple, ...more })).rejects.toMatchObject({ option });
});

test('a statement says which word is paid, and another word of that name is refused', async () => {
  const rows = await rowsOf(of('A,paid,5\nB,COMPLETED,6\nC,failed,7\n'), simple);
  expect(rows.map((row) => row.transaction_status)).toEqual(['COMPLETED', undefined, 'failed']);
});

test('a statement has a row for a line without a reference, unless no payment follows it', async () => {
  const statement = await readStatement(of('A,paid,5\n,,9\nB,paid,6\n,,11\n'), simple);
  expect(await allOf(statement.rows)).toHaveLength(3);
  expect(statement.leftOut.atTheEnd).toBe(1);
});

test('pairs are written as names and values', () => {
  expect(pairsIn(' a=b,c d==e ')).toEqual({ a: 'b', 'c d': '=e ' });
  for (const wrong of ['', 'a', '=b', 'a=', 'a=b,', 'a=b,c']) expect(pairsIn(wrong)).toBeUndefined();
  const charges = { UGX: { least: '0', most: '0.03' }, KES: { least: '1', most: '1' } };
  expect(chargesIn({ UGX: '0..0.03', KES: '1' })).toEqual(charges);
  expect([chargesIn(), kindsIn()]).toEqual([{}, { COLLECTION: 'settled' }]);
  expect(kindsIn({ PAYOUT: 'paid_out' })).toEqual({ COLLECTION: 'settled', PAYOUT: 'paid_out' });
});
