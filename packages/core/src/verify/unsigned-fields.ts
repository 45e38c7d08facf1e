import type { SignedName, TransactionPayload } from './signed-fields.ts';

export type UnsignedName = Exclude<keyof TransactionPayload, SignedName>;

/**
 * The contract's other fields, if they arrived with the contract's type. Not signed: a customer with one signature can write any
 * amount beside it. Compare money with `assertAmount()` before you act on it (threat A2).
 */
export type UnsignedFields = { readonly [Name in UnsignedName]?: TransactionPayload[Name] };

type TypeName<T> = T extends boolean ? 'boolean' : T extends number ? 'number' | 'integer' : 'string';

/** The type of every unsigned field in the contract (protocol §2.5). */
const UNSIGNED_TYPES: { readonly [Name in UnsignedName]: TypeName<TransactionPayload[Name]> } = {
  id: 'integer',
  request_currency: 'string',
  request_amount: 'number',
  transaction_currency: 'string',
  transaction_amount: 'number',
  transaction_charge: 'number',
  transaction_account: 'string',
  customer_name: 'string',
  charge_customer: 'boolean',
  total_credit: 'number',
  provider_code: 'string',
  status_message: 'string',
};

export const UNSIGNED_NAMES = /* @__PURE__ */ Object.keys(UNSIGNED_TYPES) as readonly UnsignedName[];

/** A missing or wrongly typed field is left out: unknown is not wrong, and the callback still verifies (decision D9). */
export function readUnsignedFields(read: (name: UnsignedName) => unknown): UnsignedFields {
  // Without a prototype: a polluted one must not supply an amount (threat A36).
  const fields: Record<string, unknown> = Object.create(null);
  for (const name of UNSIGNED_NAMES) {
    const value = read(name);
    if (hasType(value, UNSIGNED_TYPES[name])) fields[name] = value;
  }
  return Object.freeze(fields);
}

/**
 * The value of an unsigned field in a query, where all values are strings. Becomes a number or a boolean if the contract has one
 * and the string is exactly its JSON. Otherwise it is left out, as is a number that a double cannot represent.
 */
export function fromText(name: UnsignedName, text: string | undefined): unknown {
  if (UNSIGNED_TYPES[name] === 'string') return text;
  const value = text === 'true' || (text === 'false' ? false : Number(text));
  return String(value) === text ? value : undefined;
}

function hasType(value: unknown, type: 'string' | 'number' | 'integer' | 'boolean'): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'number') return Number.isFinite(value);
  return typeof value === type;
}
