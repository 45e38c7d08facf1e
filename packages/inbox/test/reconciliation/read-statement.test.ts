/** Statements as banks and wallets export them: one file, written in every notation, is read as the same rows. */
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAmbiguousAmount, plainAmount } from '../../src/reconciliation/amount-text.ts';
import { chargesIn, kindsIn, pairsIn } from '../../src/reconciliation/pairs.ts';
import { readStatement, SEPARATORS, type StatementFormat } from '../../src/reconciliation/read-statement.ts';
import type { StatementRow } from '../../src/reconciliation/statement.ts';
import { startChild } from '../support/child-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MAP = { merchant_reference: 'Réf', transaction_status: 'State', amount: 'Betrag' };
const SET = { transaction_type: 'COLLECTION', currency: 'EUR' };
const PAYMENTS = [
  ['ORD-1', '1250.5'],
  ['ORD-2, "due"', '500'],
  ['ORD-3', '1234567.89'],
  ['ORD-4', '0.05'],
] as const;
const ROWS = PAYMENTS.map(([merchant_reference, amount]) => ({
  ...SET,
  ...{ merchant_reference, amount, transaction_status: 'COMPLETED' },
}));

/** How a file is written. */
const written = fc.record({
  separator: fc.constantFrom(...(Object.keys(SEPARATORS) as (keyof typeof SEPARATORS)[])),
  decimal: fc.constantFrom('point', 'comma'),
  group: fc.constantFrom('', 'mark', ' ', "'", '\u00a0'),
  encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1'),
  isMarked: fc.boolean(),
  before: fc.constantFrom([], ['Account', '12345'], ['Kontoauszug'], ['', 'Period', '', '2026-01']),
  end: fc.constantFrom('\n', '\r\n'),
  isEnded: fc.boolean(),
  currency: fc.constantFrom('', 'EUR ', ' EUR', '€', ' €'),
  isTwoColumns: fc.boolean(),
  hasTotal: fc.boolean(),
  isStated: fc.boolean(),
  pieceBytes: fc.integer({ min: 1, max: 50 }),
});
type Written = typeof written extends fc.Arbitrary<infer T> ? T : never;

function amountIn(plain: string, { decimal, group, currency }: Written): string {
  const [whole = '', fraction] = plain.split('.');
  const mark = decimal === 'point' ? ',' : '.';
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group === 'mark' ? mark : group);
  const digits = fraction === undefined ? grouped : `${grouped}${decimal === 'point' ? '.' : ','}${fraction}`;
  return currency.startsWith(' ') ? digits + currency : currency + digits;
}

function fileIn(how: Written): { readonly bytes: Buffer; readonly format: StatementFormat } {
  const { separator, isTwoColumns, hasTotal, before, end, isEnded, isStated, decimal } = how;
  const by = SEPARATORS[separator];
  const write = (fields: readonly string[]): string =>
    fields.map((one) => (/["\r\n,;\t|]/.test(one) ? `"${one.replaceAll('"', '""')}"` : one)).join(by);
  const money = isTwoColumns ? ['Haben', 'Soll'] : ['Betrag'];
  const moneyOf = (amount: string): string[] => (isTwoColumns ? [amount, ''] : [amount]);
  const lines = [
    ...before.map((line, index) => (index === 0 ? line : `${line}${by}x`)),
    write(['Nr', 'Réf', 'State', ...money]),
    ...PAYMENTS.map(([reference, amount], index) =>
      write([String(index), reference, 'bezahlt', ...moneyOf(amountIn(amount, how))]),
    ),
    // Money that went out: a fee.
    ...(isTwoColumns ? [write(['9', 'FEE', 'bezahlt', '', amountIn('3', how)])] : []),
    ...(hasTotal ? [write(['Total', '', '', ...moneyOf(amountIn('1236318.44', how))])] : []),
  ];
  const { amount: _, ...others } = MAP;
  const map = isTwoColumns ? { ...others, credit: 'Haben', debit: 'Soll' } : MAP;
  const headerAt = before.length + 1;
  const bytes = encoded(lines.join(end) + (isEnded ? end : ''), how);
  const isMarked = how.isMarked && how.encoding.startsWith('utf');
  const stated = { separator, headerAt, encoding: how.encoding };
  const format = {
    ...{ map, set: SET, paid: 'bezahlt', decimal, ...(isStated && stated) },
    ...(!isMarked && { encoding: how.encoding }),
  };
  return { bytes, format };
}

function encoded(text: string, { encoding, isMarked }: Pick<Written, 'encoding' | 'isMarked'>): Buffer {
  const marked = (isMarked && encoding.startsWith('utf') ? '\ufeff' : '') + text;
  if (encoding === 'utf-8') return Buffer.from(marked);
  if (encoding === 'utf-16le') return Buffer.from(marked, 'utf16le');
  if (encoding === 'utf-16be') return Buffer.from(marked, 'utf16le').swap16();
  return Buffer.from(Array.from(text, (one) => (one === '€' ? 0x80 : one.charCodeAt(0))));
}

async function rowsOf(
  source: Parameters<typeof readStatement>[0],
  format: StatementFormat,
): Promise<StatementRow[]> {
  return allOf((await readStatement(source, format)).rows);
}

async function allOf(rows: AsyncIterable<StatementRow>): Promise<StatementRow[]> {
  const found: StatementRow[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

const streamOf = (bytes: Buffer, length: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
      bytes.subarray(index * length, (index + 1) * length),
    ),
  );

// Threat A56: a file that was cut off, or has another format.
describe('a statement', () => {
  test('is read as the same rows in every separator, notation, encoding and layout', async () => {
    await fc.assert(
      fc.asyncProperty(written, async (how) => {
        // The sign is not in that encoding.
        fc.pre(how.encoding !== 'iso-8859-1' || !how.currency.includes('€'));
        const { bytes, format } = fileIn(how);
        const statement = await readStatement(streamOf(bytes, how.pieceBytes), format);
        expect(statement).toMatchObject({
          separator: how.separator,
          encoding: how.encoding,
          headerAt: how.before.length + 1,
          preview: ROWS,
        });
        expect(await allOf(statement.rows)).toEqual(ROWS);
        const leftOut = { debits: how.isTwoColumns ? 1 : 0, atTheEnd: how.hasTotal ? 1 : 0 };
        expect(statement.leftOut).toEqual(leftOut);
        expect(await rowsOf(bytes, format)).toEqual(ROWS);
      }),
      { numRuns: 300 },
    );
  });

  const simple = { map: MAP, set: SET, paid: 'paid' };
  const HEADER = 'Réf,State,Betrag\n';
  const of = (lines: string): Buffer => Buffer.from(HEADER + lines);

  test.each([
    ['1.000', true],
    ['1,000', true],
    ['1.000.000', true],
    ['500,00', false],
    ['1 000', false],
    ['500.00', false],
  ])('without a stated mark, %s stays as it is, and is ambiguous: %s', async (amount, isAmbiguous) => {
    const [row] = await rowsOf(of(`A,paid,"${amount}"`), simple);
    expect([row?.amount, isAmbiguousAmount(row?.amount)]).toEqual([amount, isAmbiguous]);
  });

  test.each([
    ['1.00.000', 'comma'],
    ['1.000,', 'comma'],
    ['1,5,0', 'comma'],
    ["1'000 000", 'point'],
    ['1.5.0', 'point'],
    ['12,34', 'point'],
    ['5e2', 'point'],
    ['-5', 'point'],
    ['USD 5', 'point'],
    ['EUR 5 EUR', 'point'],
    ['$5', 'point'],
    ['', 'point'],
  ] as const)('%s is no amount with a decimal %s', (text, decimal) => {
    expect(plainAmount(text, { decimal, currency: 'EUR' })).toBeUndefined();
  });

  test.each([
    [
      'cut off',
      'A,paid',
      /^Line 2 of the statement cannot be read: it has 2 fields, and the header has 3\. Nothing was applied\./,
    ],
    ['cut off early', 'A,paid,5\nB', /^Line 3 of the statement cannot be read: it has 1 fields/],
    ['too long', 'A,paid,5,6', /it has 4 fields/],
    [
      'quoted without an end',
      'A,paid,"5\nB,paid,6',
      /^Line \d of the statement cannot be read: a quotation mark or a line break/,
    ],
    [
      'quoted in part',
      'A,"paid"x,5',
      /^Line \d of the statement cannot be read: a quotation mark or a line break/,
    ],
  ])('with a record that is %s is refused', async (_what, lines, message) => {
    await expect(rowsOf(of(lines), simple)).rejects.toMatchObject({
      option: 'statement',
      message: expect.stringMatching(message),
    });
  });

  test.each<[string, string | Buffer, Partial<StatementFormat>]>([
    ['map', 'Ref;State;Betrag\nA;paid;5\n', {}],
    ['map', HEADER, { headerAt: 2 }],
    ['statement', 'Réf,Réf,State,Betrag\n', {}],
    ['encoding', Buffer.from('Réf,State,Betrag\n', 'latin1'), {}],
    ['encoding', `\ufeff${HEADER}`, { encoding: 'utf-16le' }],
    ['separator', 'Réf', { map: { merchant_reference: 'Réf' } }],
    ['decimal', HEADER, { decimal: ',' as 'comma' }],
  ])('that does not fit is refused, and names the option %s', async (option, file, more) => {
    await expect(rowsOf(Buffer.from(file), { ...simple, ...more })).rejects.toMatchObject({ option });
  });

  test('says which word is paid, and another word of that name is refused', async () => {
    const rows = await rowsOf(of('A,paid,5\nB,COMPLETED,6\nC,failed,7\n'), simple);
    expect(rows.map((row) => row.transaction_status)).toEqual(['COMPLETED', undefined, 'failed']);
  });

  test('has a row for a line without a reference, unless no payment follows it', async () => {
    const statement = await readStatement(of('A,paid,5\n,,9\nB,paid,6\n,,11\n'), simple);
    expect(await allOf(statement.rows)).toHaveLength(3);
    expect(statement.leftOut.atTheEnd).toBe(1);
  });
});

test('a statement of 20 MB is reconciled where its rows would not fit into the memory', async () => {
  const run = (...more: string[]) => {
    const args = [`${temporaryFolder()}/shop.db`, '20000000', ...more];
    return startChild('long-statement.ts', args, ['env', 'NODE_OPTIONS=--max-old-space-size=40']).ended;
  };
  const { output, code } = await run();
  expect(output).toMatch(/"applied":2,"paid_without_callback":2,"not_expected":3\d{4},"malformed":0/);
  expect(code).toBe(0);
  // Control: a program that keeps the rows needs more.
  expect((await run('keep')).output).toContain('heap out of memory');
}, 300_000);

test('pairs are written as names and values', () => {
  expect(pairsIn(' a=b,c d==e ')).toEqual({ a: 'b', 'c d': '=e ' });
  for (const wrong of ['', 'a', '=b', 'a=', 'a=b,', 'a=b,c']) expect(pairsIn(wrong)).toBeUndefined();
  const charges = { UGX: { least: '0', most: '0.03' }, KES: { least: '1', most: '1' } };
  expect(chargesIn({ UGX: '0..0.03', KES: '1' })).toEqual(charges);
  expect([chargesIn(), kindsIn()]).toEqual([{}, { COLLECTION: 'settled' }]);
  expect(kindsIn({ PAYOUT: 'paid_out' })).toEqual({ COLLECTION: 'settled', PAYOUT: 'paid_out' });
});
