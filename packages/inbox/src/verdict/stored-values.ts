import { canonicalAmount, type SignedFields } from '@payment-service/core';
import type { TransitionReason } from '../states.ts';
import { choiceOf, optionalText, type Row, textOf, unexpected } from '../store/store.ts';
import type {
  Claims,
  EvaluatedBody,
  ExpectedMoney,
  KnownExpectation,
  KnownOrder,
  ReplacedMoney,
  StoredClaim,
} from './evaluate.ts';

// The contents of the tables decide about money, and other programs, people and later versions also write there. So they are
// parsed: a value of another shape ends the attempt with a TypeError that names the column, and nothing is applied (decision
// D56).

export const COMPARISONS = ['both', 'request', 'transaction'] as const;

/** The five signed strings. */
export function signedIn(row: Row, name = 'signed'): SignedFields {
  const members = membersIn(row, name);
  const { event, merchant_reference, internal_reference, transaction_type, transaction_status } = members;
  const signed = { event, merchant_reference, internal_reference, transaction_type, transaction_status };
  if (isStrings(signed)) return Object.freeze(signed);
  throw unexpected(row, name, 'the five signed strings');
}

export function bodyIn(row: Row): EvaluatedBody {
  return { digest: textOf(row, 'digest'), ...claimsIn(row) };
}

export function claimsIn(row: Row): Claims {
  const { request, transaction } = membersIn(row, 'claims');
  if (isClaim(request) && isClaim(transaction)) return { request, transaction };
  throw unexpected(
    row,
    'claims',
    'a currency and an amount, strings or null, of the request and of the transaction',
  );
}

/** The expectation that a row joins, if there is one. */
export function expectationIn(row: Row): KnownExpectation | undefined {
  if (row['amount'] === null) return undefined;
  const [currency, amount] = [textOf(row, 'currency'), textOf(row, 'amount')];
  const money = { currency, amount, compare: choiceOf(row, 'compare', COMPARISONS) };
  if (!isMoney(money)) throw unexpected(row, 'amount', 'a canonical decimal above zero, such as 1999.9');
  const replaced = jsonIn(row, 'replaced');
  if (Array.isArray(replaced) && replaced.every(isReplaced))
    return {
      ...money,
      settledBy: optionalText(row, 'settled_by'),
      replaced: replaced.map(({ at, ...each }) => ({ ...each, at: new Date(at) })),
      isCanceled: (row['canceled_at'] ?? null) !== null,
      order: orderIn(row),
    };
  throw unexpected(
    row,
    'replaced',
    'a list of earlier expectations: currency, amount, compare, by, note and at',
  );
}

/** Undefined for a payment without an order. */
export function orderIn(row: Row): KnownOrder | undefined {
  if ((row['order_id'] ?? null) === null) return undefined;
  return { id: textOf(row, 'order_id'), total: textOf(row, 'order_total') };
}

/** Only its form is checked: a later version of core may have a rule that this version does not know. */
export function reasonIn(row: Row, name: 'reason' | 'refusal'): TransitionReason | undefined {
  const reason = optionalText(row, name);
  if (reason === undefined || isReason(reason)) return reason;
  throw unexpected(row, name, 'a reason in lower-case letters and underscores');
}

/** A string that is kept as JSON, since it may hold NUL. */
export function jsonTextOf(row: Row, name: string): string {
  const value = jsonIn(row, name);
  if (typeof value === 'string') return value;
  throw unexpected(row, name, 'a string as JSON');
}

function membersIn(row: Row, name: string): Readonly<Record<string, unknown>> {
  return membersOf(jsonIn(row, name));
}

export function jsonIn(row: Row, name: string): unknown {
  const text = textOf(row, name);
  try {
    return JSON.parse(text);
  } catch {
    // Its error is not used, since it quotes the value.
    throw unexpected(row, name, 'JSON');
  }
}

/** The members of an object; none for any other value. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function isStrings(signed: Record<keyof SignedFields, unknown>): signed is SignedFields {
  return Object.values(signed).every((value) => typeof value === 'string');
}

function isClaim(value: unknown): value is StoredClaim {
  const { currency, amount, text = '', isInexact = false } = membersOf(value);
  const isMoney = [currency, amount].every((one) => one === null || typeof one === 'string');
  return isMoney && typeof text === 'string' && typeof isInexact === 'boolean';
}

function isMoney(value: unknown): value is ExpectedMoney {
  const { currency, amount, compare } = membersOf(value);
  return typeof currency === 'string' && isAmount(amount) && COMPARISONS.some((each) => each === compare);
}

type StoredReplaced = Omit<ReplacedMoney, 'at'> & { readonly at: number };

function isReplaced(value: unknown): value is StoredReplaced {
  const { by, note, at } = membersOf(value);
  return isMoney(value) && typeof by === 'string' && typeof note === 'string' && Number.isSafeInteger(at);
}

function isAmount(value: unknown): boolean {
  if (typeof value !== 'string' || value === '0' || value.startsWith('-')) return false;
  try {
    return canonicalAmount(value) === value;
  } catch {
    return false;
  }
}

function isReason(text: string): text is TransitionReason {
  return /^[a-z_]+$/.test(text);
}
