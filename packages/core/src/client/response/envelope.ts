import type { operations, paths } from '../../generated/payment-service.ts';
import { isObject } from '../../verify/json-members.ts';
import type { Operation, PaymentProvider, PayoutBank, Wallet } from '../client.ts';
import type { ClientSettings } from '../settings/settings.ts';
import { AttemptFailure, invalid } from './failure.ts';

/** The body of a 200 in the contract. If a field or a list is renamed there, this file does not compile. */
type Body<O extends Operation> = operations[O]['responses'][200]['content']['application/json'];

/** The kind of a field in the contract. An open union is any string. */
type KindOf<T> = [T] extends [boolean]
  ? 'boolean'
  : [T] extends [number]
    ? 'number'
    : [T] extends [string]
      ? 'string'
      : [T] extends [string[]]
        ? 'string[]'
        : never;
type Kind = 'boolean' | 'number' | 'string' | 'string[]';

/**
 * The fields that a contract type requires. They cannot drift: a field that is missing, added, or of a different kind from
 * `generated/` does not compile. Optional and unknown fields of a response are kept unchanged.
 */
export type Fields<T> = {
  readonly [Field in keyof T as object extends Pick<T, Field> ? never : Field]: KindOf<T[Field]>;
};

/** Protocol §2.2. */
const PROVIDER_FIELDS: Fields<PaymentProvider> = {
  provider_name: 'string',
  provider_code: 'string',
  transaction_method: 'string',
  transaction_method_name: 'string',
  transaction_type: 'string',
  transaction_currency: 'string',
  min_amount: 'number',
  max_amount: 'number',
  max_daily_amount: 'number',
  is_active: 'boolean',
  option_prefixes: 'string[]',
};

/** Protocol §2.3. */
const BANK_FIELDS: Fields<PayoutBank> = {
  bank_code: 'string',
  bank_name: 'string',
  is_active: 'boolean',
};

/** Protocol §2.4. */
const WALLET_FIELDS: Fields<Wallet> = {
  currency: 'string',
  wallet_type: 'string',
  available_balance: 'number',
  actual_balance: 'number',
  uncleared_balance: 'number',
  reserve_balance: 'number',
};

/** One of the three lists that the service returns. */
export interface List<T> {
  readonly operation: Operation;
  readonly path: keyof paths;
  /** The name of the list in `data`. */
  readonly name: string;
  readonly fields: Readonly<Record<string, Kind>>;
  /** Never set: it only carries the type of the rows. */
  readonly row?: T;
  /** A field that reads as an empty list if it is missing or null, since the protocol promises no field. */
  readonly optionalList?: string;
  /** Balances are money: one deviating field refuses the whole response. */
  readonly isMoney?: boolean;
}

/** The names are tied to the contract: a wrong list name or row type does not compile. */
type ListOf<O extends Operation, Name extends keyof Body<O>['data']> = List<
  Body<O>['data'][Name] extends readonly (infer Row)[] ? Row : never
> & { readonly operation: O; readonly name: Name };

export const PROVIDERS: ListOf<'listPaymentProviders', 'payment_providers'> = {
  operation: 'listPaymentProviders',
  path: '/data/payment-providers',
  name: 'payment_providers',
  fields: PROVIDER_FIELDS,
  optionalList: 'option_prefixes' satisfies keyof PaymentProvider,
};
export const BANKS: ListOf<'listPayoutBanks', 'payout_banks'> = {
  operation: 'listPayoutBanks',
  path: '/data/payout-bank-codes',
  name: 'payout_banks',
  fields: BANK_FIELDS,
};
export const WALLETS: ListOf<'getWalletBalances', 'merchant_wallets'> = {
  operation: 'getWalletBalances',
  path: '/data/wallet-balances',
  name: 'merchant_wallets',
  fields: WALLET_FIELDS,
  isMoney: true,
};

const MAX_ROWS = 10_000;
/** 10,000 banks have 40,000. Without a limit, a megabyte of `{},{},…` in an unknown field takes 90 MB (threat A33). */
const MAX_VALUES = 75_000;
/** JSON.parse reads nesting of any depth; a later walk over the row would overflow the stack (threat A33). */
const MAX_DEPTH = 64;
/** Per response: more reports would add no information. */
export const MAX_REPORTS = 100;

const UPDATE = "The service and this SDK's contract disagree. Update the SDK, or report it to the service.";
export const CHECK_ADDRESS =
  'Check that baseUrl is the address of the payment service and not of a proxy or a website.';

/**
 * Reads the body of a 200 (protocol §2.1). `status` and `data` decide; `code` and `message` are not needed. A deviating row
 * is left out and reported (threat A40); if `strict` or `list.isMoney` is set, it refuses the whole list.
 *
 * @throws {AttemptFailure} naming the path of the first wrong field, never its value: bodies contain balances.
 */
export function readList<T>(text: string, list: List<T>, { strict, onDeviation }: ClientSettings): T[] {
  const { operation, name, fields, optionalList, isMoney = false } = list;
  const rows = rowsOf(text, name);
  if (rows.length > MAX_ROWS) throw unexpected(`data.${name}`, `at most ${MAX_ROWS} rows`, `${rows.length}`);
  const isStrict = strict || isMoney;
  let reports = 0;
  const accept = (row: unknown, index: number): row is T => {
    if (isObject(row)) {
      if (!isStrict && optionalList !== undefined) row[optionalList] ??= [];
      if (wrongField(row, fields) === undefined) {
        // JSON.parse creates an own property; copying by assignment would set the prototype.
        if (Object.hasOwn(row, '__proto__')) Reflect.deleteProperty(row, '__proto__');
        if (!isDeeperThan(row, MAX_DEPTH)) return true;
      }
    }
    if (!isStrict && ++reports > MAX_REPORTS) return false;
    const [field, received, expected] = deviationOf(row, fields);
    const path = `data.${name}[${index}]${field}`;
    if (isStrict) throw unexpected(path, expected, received);
    onDeviation({ operation, path, received, isLeftOut: true });
    return false;
  };
  return rows.filter(accept);
}

/** `message` of an error envelope (protocol §7), if the body is one. A proxy's page is not. */
export function readServiceMessage(text: string): string | undefined {
  const message = memberOf(parseBounded(text), 'message');
  return typeof message === 'string' ? message : undefined;
}

/** A field of the envelope, by a name that all three responses of the contract have. */
function memberOf(body: unknown, name: keyof Body<Operation>): unknown {
  return isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined;
}

/** The list of a success envelope, its rows unchecked. */
export function rowsOf(text: string, name: string): readonly unknown[] {
  const { data } = readEnvelope(text, 200);
  if (!isObject(data)) throw unexpected('data', 'object', typeName(data));
  const rows = Object.hasOwn(data, name) ? data[name] : undefined;
  if (!Array.isArray(rows)) throw unexpected(`data.${name}`, 'array', typeName(rows));
  return rows;
}

/** A success envelope (protocol §2.1), its data unchecked. @throws {AttemptFailure} */
export function readEnvelope(
  text: string,
  httpStatus: number,
): { readonly message: string; readonly data: unknown } {
  const body = parseBounded(text);
  // Not the parser's message, which quotes the text: the snippet shows it scrubbed.
  const what = `the response is not JSON of at most ${MAX_VALUES} values`;
  if (body === undefined) throw invalid(what, CHECK_ADDRESS, { status: httpStatus, bodyText: text });
  if (!isObject(body)) throw unexpected('the response', 'object', typeName(body), httpStatus);
  const status = memberOf(body, 'status');
  if (status === 'error') {
    const code = memberOf(body, 'code');
    throw new AttemptFailure({
      code: 'api_error',
      what: `the service answered HTTP ${httpStatus} with an error envelope${Number.isInteger(code) ? ` (code ${code})` : ''}`,
      advice: 'Read serviceMessage; the protocol does not show this response.',
      status: httpStatus,
      sent: 'unknown',
      serviceMessage: readServiceMessage(text),
      bodyText: text,
    });
  }
  const received = typeof status === 'string' ? 'another string' : typeName(status);
  if (status !== 'success') throw unexpected('status', '"success" or "error"', received, httpStatus);
  const message = memberOf(body, 'message');
  return { message: typeof message === 'string' ? message : '', data: memberOf(body, 'data') };
}

export function unexpected(
  path: string,
  expected: string,
  received: string,
  status?: number,
): AttemptFailure {
  const what = `${path}: expected ${expected}, received ${received}`;
  return invalid(what, UPDATE, status === undefined ? {} : { status });
}

/** @returns Undefined if the text is not JSON or has more than `MAX_VALUES` values. */
function parseBounded(text: string): unknown {
  // Each value but the first follows one of these characters, and together with it, or with its closing bracket, has at least two.
  // Those inside strings count too, which affects no real response.
  let values = 1;
  for (const mark of text.length > 2 * MAX_VALUES ? ',[{' : '') {
    for (let at = text.indexOf(mark); at >= 0 && values <= MAX_VALUES; at = text.indexOf(mark, at + 1))
      values++;
  }
  try {
    return values > MAX_VALUES ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** For results of JSON.parse only. Object.keys() would take three times as long for a typical row. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value))
    return value.some((item) => typeof item === 'object' && isDeeperThan(item, levels - 1));
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (typeof member === 'object' && isDeeperThan(member, levels - 1)) return true;
  }
  return false;
}

/**
 * The first wrong field, or the first wrong item in a list of strings: its path relative to the row, its type, and the type in
 * the contract.
 */
function deviationOf(row: unknown, fields: List<unknown>['fields']): [string, string, string] {
  if (!isObject(row)) return ['', typeName(row), 'object'];
  const name = wrongField(row, fields);
  if (name === undefined) return ['', 'deeper nesting', `at most ${MAX_DEPTH} levels of nesting`];
  const value = row[name];
  if (fields[name] !== 'string[]') return [`.${name}`, typeName(value), `${fields[name]}`];
  if (!Array.isArray(value)) return [`.${name}`, typeName(value), 'array'];
  const index = value.findIndex((item) => typeof item !== 'string');
  return [`.${name}[${index}]`, typeName(value[index]), 'string'];
}

function wrongField(
  row: Readonly<Record<string, unknown>>,
  fields: List<unknown>['fields'],
): string | undefined {
  for (const name in fields) if (!isOfKind(row[name], fields[name])) return name;
  return undefined;
}

/** JSON.parse reads 1e999 as Infinity, which is not an amount. */
function isOfKind(value: unknown, kind: Kind | undefined): boolean {
  if (kind === 'string[]') return Array.isArray(value) && value.every((item) => typeof item === 'string');
  return kind === 'number' ? Number.isFinite(value) : typeof value === kind;
}

function typeName(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
