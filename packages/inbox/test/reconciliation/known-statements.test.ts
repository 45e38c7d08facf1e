/** Every line of a statement is accounted for, in every form in which a bank or a wallet may export it. */
import { expect, test } from 'vitest';
import { readStatement } from '../../src/reconciliation/reading/read-statement.ts';
import type { StatementFinding } from '../../src/reconciliation/statement-report.ts';
import { paid } from '../support/callbacks.ts';
import { allPairs, type KnownStatement, statementOf } from '../support/known-statements.ts';
import { DAY_MS, money, NOTE, newShop, type Shop } from '../support/shop.ts';

const PERIOD = { from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + DAY_MS) };

/** ORD-1 is settled; ORD-2 and ORD-3 are expected, and their callbacks were lost. */
async function newBooks(): Promise<Shop['inbox']> {
  const { inbox, deliver } = await newShop('sqlite');
  await inbox.expect(money('ORD-1', '1250.5'));
  await deliver(paid('ORD-1', 1250.5));
  await inbox.expect(money('ORD-2'));
  await inbox.expect(money('ORD-3', '1234567.89'));
  return inbox;
}

async function compared(inbox: Shop['inbox'], { text, format }: Pick<KnownStatement, 'text' | 'format'>) {
  const { lines } = await readStatement(Buffer.from(text), format);
  const found: StatementFinding[] = [];
  const onFinding = (one: StatementFinding) => found.push(one);
  const report = await inbox.reconcileStatement(lines, { ...NOTE, ...PERIOD, onFinding });
  return { report, found };
}

// Threat A56: the right answer is written before the file is.
/** Hundreds of comparisons: seconds, and minutes on a busy machine. */
const MANY = { timeout: 600_000 };

test(
  'a statement in every layout, direction, notation and way to take money back has the right verdict for each line, in any order of its rows',
  MANY,
  async () => {
    const inbox = await newBooks();
    const files = allPairs();
    expect(files.length).toBeGreaterThan(200);
    for (const kinds of files) {
      const known = statementOf(kinds);
      const name = `${JSON.stringify(kinds)}\n${known.text}`;
      const { report, found } = await compared(inbox, known);
      expect(
        found.map(({ line, verdict }) => [line, verdict]),
        name,
      ).toEqual(known.verdicts);
      const sums = Object.fromEntries(
        Object.entries(report.sums).map(([of, [sum]]) => [of, Number(sum?.amount ?? 0)]),
      );
      expect(sums, name).toMatchObject(
        Object.fromEntries(Object.entries(known.sums).map(([of, sum]) => [of, Number(sum.toFixed(2))])),
      );
      const counted = Object.values(report.lines).reduce((sum, count) => sum + count, 0);
      expect(counted, name).toBe(known.text.split(/\r\n|\n|\r/).length - 1);
      expect(report.applied, name).toBe(
        known.verdicts.filter(([, verdict]) => verdict === 'paid_without_callback').length,
      );
      expect(report.isClean).toBe(false);
      const turned = await compared(
        inbox,
        statementOf(kinds, (body) => body.toReversed()),
      );
      const judged = (findings: readonly StatementFinding[]) =>
        findings
          .map(({ verdict, merchant_reference, internal_reference }) =>
            [verdict, merchant_reference, internal_reference].join(' '),
          )
          .sort();
      expect(judged(turned.found), name).toEqual(judged(found));
    }
  },
);

const FORMAT = {
  map: { merchant_reference: 'Ref', internal_reference: 'Id', transaction_status: 'State' },
  set: { transaction_type: 'COLLECTION', currency: 'UGX' },
  paid: 'paid',
};
const verdictsOf = (found: readonly StatementFinding[]) => found.map(({ verdict }) => verdict);

test('a statement: money out and interest whose amount cannot be read are not understood, and stop only their own payment', async () => {
  const text = [
    'Id;Ref;State;Haben;Soll;Text',
    'INT-ORD-2;ORD-2;paid;500;;goods',
    'R-1;ORD-2;paid;;1,000;goods back',
    'INT-ORD-3;ORD-3;paid;1234567.89;;goods',
    'S-1;SUPPLIER;paid;;2.000.5;rent',
    ';;paid;9,000;;Interest',
  ].join('\n');
  const map = { ...FORMAT.map, credit: 'Haben', debit: 'Soll' };
  const { report, found } = await compared(await newBooks(), { text, format: { ...FORMAT, map } });
  expect(verdictsOf(found).slice(0, 6)).toEqual([
    ...['heading', 'unclear', 'ambiguous_amount', 'paid_without_callback'],
    ...['malformed', 'ambiguous_amount'],
  ]);
  expect(report.sums).toMatchObject({ in: [{ currency: 'UGX', amount: '1235067.89' }], out: [] });
});

test('a statement: words of statuses and directions that have no known meaning are counted by their column', async () => {
  const text = [
    'Id,Ref,State,Amount,Way',
    'INT-ORD-2,ORD-2,paid,500,XX',
    'INT-ORD-3,ORD-3,Held,7,CR',
    'INT-ORD-4,ORD-4,Held,7,XX',
  ].join('\n');
  const map = { ...FORMAT.map, amount: 'Amount', direction: 'Way' };
  const books = await newBooks();
  const { report, found } = await compared(books, { text, format: { ...FORMAT, map } });
  expect(verdictsOf(found).slice(0, 4)).toEqual([
    ...['heading', 'unknown_direction', 'unknown_status', 'unknown_direction'],
  ]);
  expect(report.words).toEqual({ transaction_status: { Held: 1 }, direction: { XX: 2 } });
  const classed = { ...FORMAT, map, in: ['XX'], statuses: { Held: 'interim' } } as const;
  expect((await compared(books, { text, format: classed })).report.words).toEqual({
    transaction_status: {},
    direction: {},
  });
});
