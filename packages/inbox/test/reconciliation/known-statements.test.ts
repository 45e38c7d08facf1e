/** Every line of a statement is accounted for, in every form in which a bank or a wallet may export it. */
import { expect, test } from 'vitest';
import { readStatement } from '../../src/reconciliation/read-statement.ts';
import type { StatementFinding } from '../../src/reconciliation/statement.ts';
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

async function compared(inbox: Shop['inbox'], { text, format }: KnownStatement) {
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
