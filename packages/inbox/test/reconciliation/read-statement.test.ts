/** Statements as banks and wallets export them. */
import { expect, test } from 'vitest';
import { amountIn, isAmbiguousAmount } from '../../src/reconciliation/amount-text.ts';
import { chargesIn, kindsIn, pairsIn } from '../../src/reconciliation/pairs.ts';
import { readStatement } from '../../src/reconciliation/read-statement.ts';
import type { StatementLine } from '../../src/reconciliation/statement.ts';
import type { StatementFormat } from '../../src/reconciliation/statement-format.ts';
import { allOf, expectSameRows, MAP, SET } from '../support/statement-files.ts';

/** Without the names of the columns. */
const linesOf = async (source: Uint8Array, format: StatementFormat): Promise<StatementLine[]> =>
  (await allOf((await readStatement(source, format)).lines)).filter(({ verdict }) => verdict !== 'heading');

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
  for await (const _ of (await readStatement(pieces(), simple)).lines) if (++rows === 100) break;
  expect(read).toBeLessThan(1000);
});

test('a statement without a stated mark, an amount stays as it is, and may be ambiguous', async () => {
  const ambiguous = ['1.000', '1,000', '1.000.000'];
  for (const amount of [...ambiguous, '500,00', '1 000', '500.00']) {
    const [line] = await linesOf(of(`A,paid,"${amount}"`), simple);
    expect(line?.row.amount).toBe(amount);
    expect(isAmbiguousAmount(amount), amount).toBe(ambiguous.includes(amount));
  }
});

test('a statement text that is no amount with a stated mark has none', () => {
  const point = ["1'000 000", '1.5.0', '12,34', '5e2', '--5', '-5-', '(5', 'USD 5', 'EUR 5 EUR', '$5', ''];
  for (const [decimal, texts] of Object.entries({ comma: ['1.00.000', '1.000,', '1,5,0'], point }))
    for (const text of texts)
      expect(amountIn(text, { decimal: decimal as 'point', currency: 'EUR' }), text).toBeUndefined();
});

test.each([
  ['quoted without an end', 'A,paid,"5\nB,paid,6', 3],
  ['quoted in part', 'A,paid,5\nA,"paid"x,5', 3],
  ['with a quotation mark inside', 'A,paid,5\nB 256772"000001,paid,5', 3],
])('a statement with a cell that is %s names the line, and no value', async (_what, lines, at) => {
  const error = await linesOf(of(lines), simple).catch((thrown: unknown) => thrown);
  expect({ ...Object(error), message: Object(error).message }).toMatchObject({
    option: 'statement',
    message: `The statement cannot be read at line ${at}: a quotation mark is inside a cell, or has no end. If quotation marks are ordinary text in this file, read it with quotes: 'text'. Nothing was applied.`,
  });
  const read = await linesOf(of(lines), { ...simple, quotes: 'text' });
  expect(read).toHaveLength(lines.split('\n').length);
});

test.each<[string, string | Buffer, Partial<StatementFormat>]>([
  ['map', 'Ref;State;Betrag\nA;paid;5\n', {}],
  ['map', HEADER, { headerAt: 2 }],
  ['map', 'Réf,Réf,State,Betrag\n', {}],
  ['map', HEADER, { headerAt: 0 }],
  ['encoding', Buffer.from('Réf,State,Betrag\n', 'latin1'), {}],
  ['encoding', `\ufeff${HEADER}`, { encoding: 'utf-16le' }],
  ['separator', 'Réf', { map: { merchant_reference: 'Réf' } }],
  ['decimal', HEADER, { decimal: ',' as 'comma' }],
])('a statement that does not fit is refused, and names the option %s', async (option, file, more) => {
  await expect(linesOf(Buffer.from(file), { ...simple, ...more })).rejects.toMatchObject({ option });
});

test('a statement says which word is paid, and another word of that name is not understood', async () => {
  const lines = await linesOf(of('A,paid,5\nB,COMPLETED,6\nC,failed,7\n'), simple);
  expect(lines.map(({ row, verdict }) => verdict ?? row.transaction_status)).toEqual([
    'COMPLETED',
    'unknown_status',
    'failed',
  ]);
});

test('pairs are written as names and values', () => {
  expect(pairsIn(' a=b,c d==e ')).toEqual({ a: 'b', 'c d': '=e ' });
  for (const wrong of ['', 'a', '=b', 'a=', 'a=b,', 'a=b,c']) expect(pairsIn(wrong)).toBeUndefined();
  const charges = { UGX: { least: '0', most: '0.03' }, KES: { least: '1', most: '1' } };
  expect(chargesIn({ UGX: '0..0.03', KES: '1' })).toEqual(charges);
  expect([chargesIn(), kindsIn()]).toEqual([{}, { COLLECTION: 'settled' }]);
  expect(kindsIn({ PAYOUT: 'paid_out' })).toEqual({ COLLECTION: 'settled', PAYOUT: 'paid_out' });
});
