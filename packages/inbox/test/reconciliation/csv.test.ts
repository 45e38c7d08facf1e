import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readCsv, type Separator } from '../../src/reconciliation/csv.ts';

const SEPARATORS: readonly Separator[] = [',', ';', '\t'];

// Threat A56: a file that was cut off, or has another form.
describe('the CSV of a statement is read by RFC 4180', () => {
  test('a file written by the rules of CSV is read back unchanged, with every separator and line break', () => {
    const cell = fc.string({
      unit: fc.constantFrom('"', ',', ';', '\t', '\r', '\n', ' ', 'a', 'é', '=', '0'),
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
    ['a row that was cut off', 'A,B\n1,2\n4'],
    ['a row with a field too many', 'A,B\n1,2,4'],
    ['an empty line', 'A,B\n\n1,2'],
    ['a quotation mark that is not closed', 'A,B\n1,"2\n4,5\n'],
    ['text behind a quoted field', 'A,B\n"1"x,2'],
    ['a quotation mark in a field without them', 'A,B\n1,2"'],
    ['a lone carriage return', 'A,B\r1,2'],
    ['two columns of one name', 'A,A\n1,2'],
    ['a column without a name', 'A,\n1,2'],
  ])('%s is refused, and the message has no value of it', (_what, text) => {
    expect(() => readCsv(text, ',')).toThrow(
      expect.objectContaining({ option: 'statement', message: expect.not.stringMatching(/4|2x/) }),
    );
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
