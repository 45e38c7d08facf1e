import { test } from 'vitest';
import type { Fields } from '../../src/client/response/envelope.ts';

interface Row {
  readonly open: 'Collection' | (string & {});
  readonly amount: number;
  readonly is_active: boolean;
  readonly prefixes: string[];
}
const fields = (row: Fields<Row>): Fields<Row> => row;
const right = { open: 'string', amount: 'number', is_active: 'boolean', prefixes: 'string[]' } as const;

test('the fields of a contract type compile', () => {
  fields(right);
});

test('a field that is missing, added or of another kind does not compile', () => {
  const { amount: _amount, ...missing } = right;
  // @ts-expect-error a field is missing
  fields(missing);
  // @ts-expect-error a field that the contract does not have
  fields({ ...right, other: 'string' });
  // @ts-expect-error a number that is read as text
  fields({ ...right, amount: 'string' });
  // @ts-expect-error a list that is read as one string
  fields({ ...right, prefixes: 'string' });
});

test('a field of any other type cannot be described', () => {
  // @ts-expect-error an optional field has no kind: every field of a row is required
  const optional: Fields<{ readonly name?: string }> = { name: 'string' };
  type OnlyNested = { readonly nested: { readonly amount: number } };
  // @ts-expect-error an object has no kind
  const nested: Fields<OnlyNested> = { nested: 'string' };
  return { optional, nested };
});
