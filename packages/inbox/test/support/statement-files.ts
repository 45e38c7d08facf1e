/** A statement in every notation in which a bank or a wallet may export it. */
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect } from 'vitest';
import { SEPARATORS } from '../../src/reconciliation/reading/file-records.ts';
import { readStatement } from '../../src/reconciliation/reading/read-statement.ts';
import type { StatementFormat } from '../../src/reconciliation/reading/statement-format.ts';
import type { StatementLine } from '../../src/reconciliation/statement-report.ts';

export const MAP = { merchant_reference: 'Réf', transaction_status: 'State', amount: 'Betrag' };
export const SET = { transaction_type: 'COLLECTION', currency: 'EUR' };
const PAYMENTS = [
  ['ORD-1', '1250.5'],
  ['ORD-2, "due"', '500'],
  ['ORD-3', '1234567.89'],
  ['ORD-4', '0.05'],
] as const;
const ROWS = PAYMENTS.map(([merchant_reference, amount]) => ({
  ...SET,
  ...{ merchant_reference, amount, transaction_status: 'COMPLETED', meaning: 'paid' },
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

export async function allOf(lines: AsyncIterable<StatementLine>): Promise<StatementLine[]> {
  const found: StatementLine[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

const streamOf = (bytes: Buffer, length: number): Readable =>
  Readable.from(
    Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
      bytes.subarray(index * length, (index + 1) * length),
    ),
  );

/** One file, written in this many ways, is read as the same rows. */
export async function expectSameRows(numRuns: number): Promise<void> {
  const property = fc.asyncProperty(written, async (how) => {
    // The sign is not in that encoding.
    fc.pre(how.encoding !== 'iso-8859-1' || !how.currency.includes('€'));
    const { bytes, format } = fileIn(how);
    const { separator, encoding, isTwoColumns, hasTotal } = how;
    for (const source of [bytes, streamOf(bytes, how.pieceBytes)]) {
      const statement = await readStatement(source, format);
      const headerAt = how.before.length + 1;
      expect(statement).toMatchObject({ separator, encoding, headerAt });
      const lines = await allOf(statement.lines);
      const payments = lines.filter(({ verdict }) => verdict === undefined);
      const direction = isTwoColumns ? { direction: 'in' } : {};
      expect(payments.map(({ row }) => row)).toEqual(ROWS.map((row) => ({ ...row, ...direction })));
      expect(lines.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1));
      expect(lines.filter(({ verdict }) => verdict !== undefined).map(({ verdict }) => verdict)).toEqual([
        ...Array.from({ length: headerAt }, () => 'heading'),
        ...(isTwoColumns ? ['charge'] : []),
        ...(hasTotal ? ['total'] : []),
      ]);
    }
  });
  await fc.assert(property, { numRuns });
}
