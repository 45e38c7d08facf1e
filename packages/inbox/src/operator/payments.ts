import { checkArgument, checkOptions, type OptionRules } from '@payment-service/core/internal';
import { DATE, NAME, STRING, someOf, wholeNumber } from '../option-rules.ts';
import { referenceKey, subjectKey } from '../records.ts';
import { MAX_COUNTED, type TransitionReason } from '../states.ts';
import { dateOf, numberOf, type Row, type SqlValue, textOf } from '../store/store.ts';
import { pause } from '../time.ts';
import { PAYMENT_STATES, type PaymentState, type StoredPaymentState } from '../work/verdict/payment-state.ts';
import { findPayment, type Payment } from './payment.ts';
import { type PaymentSummary, readSummary, shownState } from './payment-summary.ts';
import type { OperatorContext } from './views.ts';

/** Which payments a list has. */
export interface PaymentFilter {
  readonly state?: PaymentState | readonly PaymentState[] | undefined;
  /** Only those that a person must look at. */
  readonly needed?: true | undefined;
  /** Why a person must look at them. */
  readonly reason?: TransitionReason | undefined;
  /**
   * A part of the merchant_reference, in any case, among the newest 5,000 of each state; or a whole merchant_reference or
   * internal_reference, among all.
   */
  readonly search?: string | undefined;
  /** Changed at or after this moment. */
  readonly since?: Date | undefined;
  /** Changed before this moment. */
  readonly until?: Date | undefined;
  /** Of one page, at most 1000. @default 50 */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** A page of a list. */
export interface PaymentPage {
  readonly items: readonly PaymentSummary[];
  /** When it was read, by the clock of the database: `until` of what is decided on it. Undefined without items. */
  readonly at: Date | undefined;
  /** For `after`; undefined on the last page. */
  readonly next: string | undefined;
}

/** Awaited, it is the first page; iterated, all of them. */
export interface Payments extends AsyncIterable<PaymentSummary>, Promise<PaymentPage> {}

/** How many payments there are. */
export interface PaymentCounts extends Readonly<Record<PaymentState, number>> {
  /** How many a person must look at. */
  readonly needed: number;
  /** How many `prune()` has moved into the archive, which the other counts do not include. */
  readonly archived: number;
}

const FILTER_RULES: OptionRules<PaymentFilter> = {
  state: someOf(PAYMENT_STATES),
  needed: [(value) => value === true, 'true'],
  reason: STRING,
  search: NAME,
  since: DATE,
  until: DATE,
  limit: wholeNumber(1000),
  after: STRING,
};

/** Newest change first; overdue ones alone, longest overdue first. */
export function listPayments<Tx>(
  read: <T>(act: () => Promise<T>) => Promise<T>,
  context: OperatorContext<Tx>,
  filter: PaymentFilter,
): Payments {
  checkOptions('payments()', filter, FILTER_RULES);
  const page = (given: PaymentFilter): Promise<PaymentPage> => read(() => readPage(context, given));
  const first = page(filter);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      for (let { items, next } = await first; ; { items, next } = await page({ ...filter, after: next })) {
        yield* items;
        if (next === undefined) return;
      }
    },
  });
}

export async function readPage<Tx>(
  context: OperatorContext<Tx>,
  filter: PaymentFilter,
): Promise<PaymentPage> {
  const { statements, settings } = context;
  const { account } = settings;
  const { state = PAYMENT_STATES, needed, reason, search, since, until, limit = 50, after } = filter;
  const states: readonly PaymentState[] = typeof state === 'string' ? [state] : state;
  const mark = after === undefined ? undefined : markIn(after);
  const before = mark ?? [until?.getTime() ?? Number.MAX_SAFE_INTEGER, '', ''];
  const times: SqlValue[] = [...before, since?.getTime() ?? 0];
  // As it is stored: JSON, which escapes a NUL.
  const written = JSON.stringify(search?.toLowerCase() ?? '').slice(1, -1);
  const part = search === undefined ? null : `%${written.replace(/[\\%_]/g, '\\$&')}%`;
  const found = new Map<string, Row>();
  const take = (rows: readonly Row[]): void => {
    for (const row of rows) found.set(keyOf(row), row);
  };
  const stored = [...new Set(states.map((each) => (each === 'overdue' ? 'open' : each)))];
  const rest: SqlValue[] = [part, limit + 1];
  if (reason !== undefined)
    take(
      await statements.run('list_payments_needed_for', [
        ...[account, reason, ...times, ...rest],
        JSON.stringify(stored),
      ]),
    );
  else
    for (const each of stored)
      take(
        needed
          ? await statements.run('list_needed_payments', [account, each, ...times, ...rest])
          : await statements.run('list_payments', [
              ...[account, each, ...times],
              ...[lateness(states, each), ...rest],
            ]),
      );
  if (search !== undefined) {
    const keys = [referenceKey(search, account), subjectKey(search, account), account];
    const isWanted = ({ needs }: Row): boolean => (!needed || needs !== null) && (reason ?? needs) === needs;
    take((await statements.run('find_payments', [...keys, ...times])).filter(isWanted));
  }
  const rows = [...found.values()].filter((row) => states.includes(shownState(row))).toSorted(newestFirst);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last ? markOf(last) : undefined;
  const shown = await Promise.all(items.map((row) => readSummary(context, row)));
  return { items: shown, at: last && dateOf(last, 'now'), next };
}

/** Which open payments are wanted: 1 for overdue ones, 0 for the others, null for both. */
function lateness(states: readonly PaymentState[], stored: StoredPaymentState): number | null {
  if (stored !== 'open') return null;
  if (!states.includes('overdue')) return 0;
  return states.includes('open') ? null : 1;
}

const newestFirst = (one: Row, other: Row): number =>
  numberOf(other, 'changed_at') - numberOf(one, 'changed_at') || (keyOf(one) < keyOf(other) ? 1 : -1);

const keyOf = (row: Row): string => `${textOf(row, 'reference_key')} ${textOf(row, 'transaction_type')}`;

const markOf = (row: Row): string => `${numberOf(row, 'changed_at')} ${keyOf(row)}`;

/** A mark of another form has nothing after it. */
function markIn(after: string): [at: number, key: string, type: string] {
  const [, at = '0', key = '', type = ''] = /^(\d{1,16}) ([\w-]{43}) ("[ -\uffff]*")$/.exec(after) ?? [];
  return [Number(at), key, type];
}

export async function countPayments<Tx>({
  statements,
  settings,
}: OperatorContext<Tx>): Promise<PaymentCounts> {
  const rows = await statements.run('count_payments', [settings.account]);
  const counted = new Map(rows.map((row) => [textOf(row, 'name'), numberOf(row, 'count')]));
  const count = (name: PaymentState): number => counted.get(name) ?? 0;
  return {
    ...{ held: count('held'), unexpected: count('unexpected'), overdue: count('overdue') },
    ...{ open: Math.min(count('open') + (counted.get('open without a deadline') ?? 0), MAX_COUNTED) },
    ...{ paid: count('paid'), reversed: count('reversed') },
    ...{ failed: count('failed'), canceled: count('canceled') },
    needed: counted.get('needed') ?? 0,
    archived: counted.get('archived') ?? 0,
  };
}

const OUTCOME_RULES: OptionRules<Parameters<typeof outcomeOf>[2]> = {
  signal: [
    (value) => value instanceof AbortSignal,
    'an AbortSignal, such as AbortSignal.timeout(30_000): a payment may never have an outcome',
    true,
  ],
  type: NAME,
};

/** How often a waiting page asks. */
const OUTCOME_MS = 500;

/** @throws The reason of the signal. */
export async function outcomeOf<Tx>(
  context: OperatorContext<Tx>,
  reference: string,
  options: { readonly signal: AbortSignal; readonly type?: string | undefined },
): Promise<Payment> {
  checkArgument('outcome()', 'reference', reference, STRING);
  checkOptions('outcome()', options, OUTCOME_RULES);
  const { signal, type } = options;
  for (;;) {
    signal.throwIfAborted();
    const payment = await findPayment(context, reference, type);
    if (payment !== undefined && payment.state !== 'open' && payment.state !== 'overdue') return payment;
    await pause(OUTCOME_MS, signal);
  }
}
