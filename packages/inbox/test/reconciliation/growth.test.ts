/** The work for every cell and name of a statement grows as its length does (threat A67). */
import { expect, test } from 'vitest';
import { LONG_TEXTS, runOrEnd } from '../../../../vitest.shared.ts';
import { amountIn, isPlainAmount } from '../../src/reconciliation/reading/amount-text.ts';
import { chargesIn, pairsIn } from '../../src/reconciliation/reading/name-value-pairs.ts';
import { readStatement } from '../../src/reconciliation/reading/read-statement.ts';
import { MAP, SET } from '../support/statement-files.ts';

const reading = (decimal: 'point' | 'comma' | undefined, currency?: string) => (text: string) =>
  amountIn(text, { decimal, currency });
test.each<[string, (text: string) => unknown]>([
  ['an amount', reading(undefined, 'UGX')],
  ['an amount with points', reading('point', 'EUR')],
  ['an amount with commas and no currency', reading('comma')],
  ['a currency', (text) => amountIn('5 EUR', { decimal: 'point', currency: text })],
  ['a plain amount', isPlainAmount],
  ['pairs', (text) => [pairsIn(text), pairsIn(`${text}=x`), pairsIn(`a=${text}`)]],
  ['charges', (text) => chargesIn({ UGX: text })],
])('threat A67: the work for %s of a statement grows as its length', (_what, read) => {
  for (const text of LONG_TEXTS) runOrEnd(() => read(text));
});

// A record has at most 65,536 characters.
test.each([' ', '"', ','])('threat A67: names and cells that repeat %j are read or refused', async (part) => {
  const text = `1${part.repeat(60_000)}a1`;
  for (const file of [`${text}\n${text}`, `Réf,State,Betrag\nA,paid,"${text.replaceAll('"', '')}"\n`]) {
    const format = { map: MAP, set: SET };
    const read = await readStatement(Buffer.from(file), format).catch((error: unknown) => error);
    expect(read).toMatchObject(read instanceof Error ? { name: 'InvalidInputError' } : { headerAt: 1 });
  }
});

test('an amount of a statement keeps its currency at either end, with any white space between', () => {
  const spaces = ' \u00a0\u202f'.repeat(2000);
  const notation = { decimal: 'point', currency: 'UGX' } as const;
  for (const text of [`UGX${spaces}1,500`, `1,500${spaces}UGX`])
    expect(amountIn(text, notation)).toEqual({ amount: '1500', isOut: undefined });
  expect(amountIn(`1${spaces}500`, notation)).toBeUndefined();
});
