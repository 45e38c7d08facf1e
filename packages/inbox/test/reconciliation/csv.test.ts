import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCsv, type Separator } from '../../src/reconciliation/csv.ts';
import { chargesIn, kindsIn, pairsIn, readStatement } from '../../src/reconciliation/read-statement.ts';

const SEPARATORS: readonly Separator[] = [',', ';', '\t'];
const LENGTH = 'it has N fields, and the header has 2';
const MISPLACED = 'a quotation mark or a line break is misplaced or missing';
const NAMES = 'two columns have the same name, or a name is missing';

// Threat A56: a file that was cut off, or has another format.
describe('the CSV of a statement is read by RFC 4180', () => {
  test('a file written by the rules of CSV is read back unchanged, with every separator and line break', () => {
    const cell = fc.string({
      unit: fc.constantFrom('"', ',', ';', '\t', '\r', '\n', ' ', 'a', 'é', '=', '0', '\uFEFF'),
    });
    const rows = fc.array(fc.tuple(cell, cell, cell), { maxLength: 5 });
    const options = fc.record({
      separator: fc.constantFrom(...SEPARATORS),
      end: fc.constantFrom('\n', '\r\n'),
      isEnded: fc.boolean(),
      bom: fc.constantFrom('', '\uFEFF'),
    });
    fc.assert(
      fc.property(rows, options, (values, { separator, end, isEnded, bom }) => {
        const write = (field: string): string =>
          /["\r\n,;\t]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
        const lines = [['A', 'B', 'C'], ...values].map((fields) => fields.map(write).join(separator));
        const text = bom + lines.join(end) + (isEnded ? end : '');
        const expected = values.map(([A, B, C]) => ({ A, B, C }));
        expect(readCsv(text, separator)).toEqual(expected);
      }),
    );
  });

  test.each([
    ['a row that was cut off', 'A,B\n1,2\n4', 3, LENGTH.replace('N', '1')],
    ['a row with a field too many', 'A,B\n1,2,4', 2, LENGTH.replace('N', '3')],
    ['an empty line', 'A,B\n\n1,2', 2, LENGTH.replace('N', '1')],
    ['a quotation mark that is not closed', 'A,B\n1,"2\n4,5\n', 2, MISPLACED],
    ['text behind a quoted field', 'A,B\n"1"x,2', 2, MISPLACED],
    ['a quotation mark in a field without them', 'A,B\n1,2"', 2, MISPLACED],
    ['a lone carriage return', 'A,B\r1,2', 1, MISPLACED],
    ['two columns of one name', 'A,A\n1,2', 1, NAMES],
    ['a column without a name', 'A,\n1,2', 1, NAMES],
  ])('%s is refused, and the message has no value of it', (_what, text, record, why) => {
    const message = `Record ${record} of the statement cannot be read: ${why}. Nothing was applied. Export it again, as CSV with a header, and check the separator.`;
    expect(() => readCsv(text, ',')).toThrow(expect.objectContaining({ option: 'statement', message }));
  });

  test('an empty file and a header alone have no rows', () => {
    expect(readCsv('', ',')).toEqual([]);
    expect(readCsv('A,B\r\n', ',')).toEqual([]);
  });

  test('a file of a million characters in one quoted field is read', () => {
    const long = 'x""'.repeat(400_000);
    expect(readCsv(`A\n"${long}"\n`, ',')[0]?.['A']).toHaveLength(800_000);
  });
});

describe('what an operator states about a statement', () => {
  const map = { merchant_reference: 'Ref', amount: 'Sum', transaction_status: 'State', event: 'Event' };
  const stated = { map, set: { currency: 'UGX', event: 'e' }, paid: 'Paid' };
  const lines = ['Ref,Sum,State,Event', 'A,500,Paid,', 'B,7,COMPLETED,x', 'C,8,Failed,'];

  test.each([
    ['comma', ','],
    ['semicolon', ';'],
    ['tab', '\t'],
  ])('says which column, value and word is which, with a %s', (separator, by) => {
    const bytes = Buffer.from(lines.join('\n').replaceAll(',', by));
    expect(readStatement(bytes, { ...stated, separator })).toEqual([
      {
        merchant_reference: 'A',
        amount: '500',
        transaction_status: 'COMPLETED',
        currency: 'UGX',
        event: 'e',
      },
      // COMPLETED is then not among the stated words.
      { merchant_reference: 'B', amount: '7', currency: 'UGX', event: 'x' },
      { merchant_reference: 'C', amount: '8', transaction_status: 'Failed', currency: 'UGX', event: 'e' },
    ]);
    expect(readStatement(Buffer.from(''), { ...stated, separator })).toEqual([]);
  });

  test.each([
    [
      'map',
      'The statement has no column with a name that you gave.',
      Buffer.from('Ref,Sum,State\nA,500,Paid\n'),
    ],
    ['statement', 'The statement is not UTF-8. Export it again, as UTF-8.', Buffer.from([0xff])],
  ])('does not fit a file: %s', (option, message, bytes) => {
    const read = () => readStatement(bytes, { ...stated, separator: 'comma' });
    expect(read).toThrow(expect.objectContaining({ option, message }));
  });

  test('is written as names and values', () => {
    expect(pairsIn(' a=b,c d==e ')).toEqual({ a: 'b', 'c d': '=e ' });
    for (const wrong of ['', 'a', '=b', 'a=', 'a=b,', 'a=b,c']) expect(pairsIn(wrong)).toBeUndefined();
    const charges = { UGX: { least: '0', most: '0.03' }, KES: { least: '1', most: '1' } };
    expect(chargesIn({ UGX: '0..0.03', KES: '1' })).toEqual(charges);
    expect([chargesIn(), kindsIn()]).toEqual([{}, { COLLECTION: 'settled' }]);
    expect(kindsIn({ PAYOUT: 'paid_out' })).toEqual({ COLLECTION: 'settled', PAYOUT: 'paid_out' });
  });
});
