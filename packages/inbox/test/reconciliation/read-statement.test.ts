/** Statements as banks and wallets export them. */
import { expect, test } from 'vitest';
import { amountIn, isAmbiguousAmount } from '../../src/reconciliation/reading/amount-text.ts';
import { chargesIn, kindsIn, pairsIn } from '../../src/reconciliation/reading/name-value-pairs.ts';
import { readStatement } from '../../src/reconciliation/reading/read-statement.ts';
import type { StatementFormat } from '../../src/reconciliation/reading/statement-format.ts';
import type { StatementLine } from '../../src/reconciliation/statement-report.ts';
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
    field: 'statement',
    message: `The statement cannot be read at line ${at}: a quotation mark is inside a cell, or is not closed. If quotation marks are ordinary characters in this file, pass quotes as 'text'. Nothing was applied.`,
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
])('a statement that does not fit is refused, and names the field %s', async (field, file, more) => {
  const error = { name: 'InvalidInputError', field };
  await expect(linesOf(Buffer.from(file), { ...simple, ...more })).rejects.toMatchObject(error);
});

test('a format with a mark that no amount has is a mistake of the program, whatever the file', async () => {
  const error = { name: 'ConfigurationError', option: 'decimal' };
  const format = { ...simple, decimal: ',' as 'comma' };
  await expect(linesOf(Buffer.from(HEADER), format)).rejects.toMatchObject(error);
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

test.each<[string, string | Buffer, string]>([
  ['a workbook (XLSX) or another archive (ZIP)', 'PK\u0003\u0004\u0014', 'Open it in a spreadsheet'],
  ['an old workbook (XLS)', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'Open it in a spreadsheet'],
  ['a PDF', '%PDF-1.7\n', 'Ask for the statement as CSV.'],
  ['compressed (gzip)', Buffer.from('1f8b0800', 'hex'), 'Unpack it first.'],
  ['a web page (HTML)', '\ufeff\r\n<!DOCTYPE html><html>', 'Open it in a spreadsheet'],
  ['a web page (HTML)', '<table><tr><td>Id', 'Open it in a spreadsheet'],
  ['OFX', 'OFXHEADER:100\r\nDATA:OFXSGML\r\n', 'Ask for the statement as CSV.'],
  ['OFX', '<?xml version="1.0"?>\n<?OFX OFXHEADER="200"?>\n<OFX>', 'Ask for the statement as CSV.'],
  [
    'CAMT (ISO 20022 XML)',
    '<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02">',
    'Ask for the statement as CSV.',
  ],
  ['XML', '<?xml version="1.0"?><a/>', 'Ask for the statement as CSV.'],
  ['MT940 (SWIFT)', '{1:F01BANKDEFFXXXX0000000000}', 'Ask for the statement as CSV.'],
  ['MT940 (SWIFT)', ':20:STARTUMS\r\n:25:12345\r\n', 'Ask for the statement as CSV.'],
  ['SYLK', 'ID;PWXL;N;E\r\nP;PGeneral\r\n', 'Open it in a spreadsheet'],
  ['JSON', '[{"id": 1}]', 'A program can pass its rows to reconcileStatement().'],
])('a statement that is %s is named as that, whatever is stated about it', async (what, file, todo) => {
  const bytes = Buffer.from(file);
  for (const format of [simple, { map: {} }, { ...simple, encoding: 'windows-1252' } as const])
    await expect(linesOf(bytes, format)).rejects.toMatchObject({
      field: 'statement',
      message: expect.stringMatching(/^The statement is /),
    });
  const error: unknown = await linesOf(bytes, simple).catch((thrown: unknown) => thrown);
  expect(Object(error).message).toContain(`The statement is ${what}, not CSV. `);
  expect(Object(error).message).toContain(todo);
});

test('a text that begins like another format, and is CSV, is read', async () => {
  for (const name of ['ID', 'PK', '{1', '[x]', '20', 'camt.05']) {
    const map = { ...MAP, merchant_reference: name };
    expect(await linesOf(Buffer.from(`${name},State,Betrag\nA,paid,5\n`), { ...simple, map })).toHaveLength(
      1,
    );
  }
});

test('the money of a home is read where the decimal mark is stated, and only in the currency of the row', () => {
  const texts = [
    ...[
      ['KES', 'KSh 1,500'],
      ['KES', 'Ksh1,500.00'],
      ['KES', 'KSh.1,500'],
      ['UGX', 'UShs. 1,500'],
    ],
    ...[
      ['UGX', '1,500/='],
      ['TZS', 'TSh 1,500'],
      ['RWF', '1,500 Frw'],
      ['XAF', '1,500 F CFA'],
    ],
  ] as const;
  for (const [currency = '', text = ''] of texts) {
    expect(amountIn(text, { decimal: 'point', currency }), text).toMatchObject({ amount: '1500' });
    expect(amountIn(text, { decimal: undefined, currency })?.amount ?? '1,500', text).toBe('1,500');
    for (const other of ['EUR', undefined])
      expect(amountIn(text, { decimal: 'point', currency: other }), text).toBeUndefined();
  }
  // Signs that only the countries of the currency use.
  for (const text of ['1,500/=', 'UShs. 1,500', '1500/='])
    expect(amountIn(text, { decimal: undefined, currency: 'UGX' }), text).toBeUndefined();
});

test('an amount is never read as another than its digits say', () => {
  const wrong = [
    '.50',
    '-.50',
    ',50',
    '$.50',
    '5 0',
    '5.',
    '5.-',
    '5 DR 0',
    '--5',
    '(5',
    '5)',
    '(-5)',
    '-5-',
    '+5-',
    '5 DR CR',
  ];
  for (const decimal of [undefined, 'point', 'comma'] as const)
    for (const text of wrong) expect(amountIn(text, { decimal, currency: 'USD' }), text).toBeUndefined();
  const read = ['- 5', '5 -', '-$5', '$-5', '($5)', '$(5)', '5 Dr.', 'DR 5', '\u22125'];
  for (const text of read)
    expect(amountIn(text, { decimal: 'point', currency: 'USD' }), text).toEqual({ amount: '5', isOut: true });
});

test('a direction that a cell contradicts, or that no word says, is not understood, and its money is in no direction', async () => {
  const two = 'Réf,State,Haben,Soll\nA,paid,-5,\nB,paid,,+5\nC,paid,5,5\nD,paid,5 DR,\nE,paid,5,0.00\n';
  const { amount: _, ...others } = MAP;
  const inTwo = await linesOf(Buffer.from(two), {
    ...simple,
    map: { ...others, credit: 'Haben', debit: 'Soll' },
  });
  const verdicts = (lines: readonly StatementLine[]) =>
    lines.map(({ verdict, row: { direction } }) => [verdict, direction]);
  const unknown = ['unknown_direction', undefined];
  expect(verdicts(inTwo)).toEqual([unknown, unknown, unknown, unknown, [undefined, 'in']]);
  const words = 'Réf,State,Betrag,Art\nA,paid,-5,CR\nB,paid,+5,DR\nC,paid,5,XX\nD,paid,-5,DR\nE,paid,5,cr.\n';
  const map = { ...MAP, direction: 'Art' };
  expect(verdicts(await linesOf(Buffer.from(words), { ...simple, map }))).toEqual([
    ...[unknown, unknown, unknown, ['money_out', 'out']],
    [undefined, 'in'],
  ]);
});

test('a first payment is not taken for the names of columns that have numbers', async () => {
  const map = { merchant_reference: '#1', transaction_status: '#2', amount: '#3' };
  const file = Buffer.from('A,paid,EUR 5\nB,paid,EUR 6\n');
  await expect(linesOf(file, { ...simple, map })).rejects.toThrow('Pass headerAt; with 0');
  expect(await linesOf(file, { ...simple, map, headerAt: 0 })).toHaveLength(2);
  expect(await linesOf(of('A,paid,EUR 5\n'), { ...simple, map })).toHaveLength(1);
});

test('the columns of a statement are proposed by their names, and by a number where a name would not do', async () => {
  const names = [
    'Receipt No.',
    'Order, no.',
    'Details',
    'Transaction Status',
    'Paid In',
    'Withdrawn',
    'Balance',
  ];
  const file = `${names.map((name) => `"${name}"`).join(',')}\n`;
  const { columns, proposed } = await readStatement(Buffer.from(file), { map: {} });
  expect(columns).toEqual(names);
  expect(proposed).toEqual({
    ...{ merchant_reference: '#2', internal_reference: 'Receipt No.' },
    ...{ transaction_status: 'Transaction Status', credit: 'Paid In', debit: 'Withdrawn' },
  });
  const twice = await readStatement(Buffer.from('Reference,Amount,Amount\n'), { map: {} });
  expect(twice.proposed).toEqual({ merchant_reference: 'Reference', amount: '#2' });
});
