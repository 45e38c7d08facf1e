import { checkArgument, checkOptions, type OptionRules } from '@payment-service/core/internal';
import { referenceKey, subjectKey } from '../../delivery/stored-delivery.ts';
import { NAME, STRING, someOf } from '../../option-rules.ts';
import { MAX_COUNTED } from '../../states.ts';
import { dateOf, numberOf, type Row, type SqlValue, textOf } from '../../store/store.ts';
import { pause } from '../../time.ts';
import { findArchived } from '../../verdict/archived.ts';
import { PAYMENT_STATES, type PaymentState } from '../../verdict/payment-state.ts';
import { keysOf, type PaymentKey } from '../../verdict/restate.ts';
import type { OperatorContext } from '../reports.ts';
import { LIST_RULES, type ListFilter } from '../search.ts';
import { type PaymentSummary, readSummary } from './payment-summary.ts';
import { archivedPayment, findPayment, type Payment } from './read-payment.ts';

/** Which payments a list contains. */
export interface PaymentFilter extends ListFilter {
  /** One state, or several. @default all */
  readonly state?: PaymentState | readonly PaymentState[] | undefined;
  /** Only those that a person must look at. @default all */
  readonly needed?: true | undefined;
  /**
   * A part of the merchant_reference or of an internal_reference, with A to Z in any case. Those with exactly this reference are on
   * the first page, beyond its limit, and come from the archive as well if only `state` is also given. The archive is not searched
   * for parts.
   */
  readonly search?: string | undefined;
  /** Only those of the order with this id: its attempts and instalments. */
  readonly order?: string | undefined;
  /** Only those of which a report names this provider_code, which is not signed. The archive has none. */
  readonly provider?: string | undefined;
}

/** A page of a list. */
export interface PaymentPage {
  readonly items: readonly PaymentSummary[];
  /** When it was read, by the clock of the database: `until` of what is decided on it. Undefined if no payment was read. */
  readonly at: Date | undefined;
  /** For `after`; undefined on the last page. */
  readonly next: string | undefined;
  /**
   * How far back this page looked, if it stopped before it had `limit` items: when the last payment changed, or, in a list of
   * overdue ones, its deadline. `next` looks further. A page looks at 1,000 payments of each state, since no index covers parts of
   * a reference, a provider, or which of the open ones are not overdue.
   */
  readonly lookedBackTo: Date | undefined;
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
  ...LIST_RULES,
  state: someOf(PAYMENT_STATES),
  needed: [(value) => value === true, 'true'],
  search: NAME,
  order: NAME,
  provider: NAME,
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

/** How many payments of a state a page looks at. */
const LOOKED_AT = 1000;
const LAST = Number.MAX_SAFE_INTEGER;

/** Where a payment is in a list: when it changed, or, of overdue ones, minus its deadline; the greatest comes first. */
type Place = readonly [at: number, key: string, type: string];

export async function readPage<Tx>(
  context: OperatorContext<Tx>,
  filter: PaymentFilter,
): Promise<PaymentPage> {
  const { state, search, order, provider, until, limit = 50, after } = filter;
  // All payments of an order are searched.
  const isPart = search === undefined || order !== undefined;
  const named = isPart ? { names: [], found: [] } : await findNamed(context, filter, search);
  const start = after === undefined ? [until?.getTime() ?? LAST, '', ''] : markIn(after);
  const count = limit + 1 + named.names.length;
  const rows: Row[] = [];
  // The first place at which the statement has left a state: what is beyond it is for the next page.
  let end: Place | undefined;
  for (const [kind, ...of] of kindsOf(filter)) {
    const isOfState = state === undefined || (kind === 'state' && of[0] !== 'open');
    const isOnly = [search, provider, order].every((each) => each === undefined);
    const most = isOfState && isOnly ? count : LOOKED_AT;
    const bounds = { limit: count, ...(end && { since: new Date(end[0]) }) };
    const looked = await look(context, { ...filter, ...bounds }, kind, [most, ...start, ...of]);
    rows.push(...looked);
    const last = looked.at(-1);
    if (last === undefined || (looked.length < count && numberOf(last, 'is_last') === 0)) continue;
    if (end === undefined || inOrder(placeIn(last), end) < 0) end = placeIn(last);
  }
  // What has changed between two statements may be in both.
  const found = [...new Map(rows.map((row) => [nameOf(row), row])).values()]
    .filter((row) => isFound(row) && !named.names.includes(nameOf(row)))
    .filter((row) => end === undefined || inOrder(placeIn(row), end) <= 0)
    .toSorted((one, other) => inOrder(placeIn(one), placeIn(other)));
  const shown = found.slice(0, limit).map((row) => readSummary(context, row));
  const last = found.length > limit ? found[limit - 1] : undefined;
  const next = last === undefined ? end : placeIn(last);
  return {
    items: [...(after === undefined ? named.found : []), ...(await Promise.all(shown))],
    at: rows[0] && dateOf(rows[0], 'now'),
    next: next?.join(' '),
    lookedBackTo: last === undefined && end ? new Date(Math.abs(end[0])) : undefined,
  };
}

/** The kinds of the statement that find such payments, each with its state or reason. */
function kindsOf({
  state = PAYMENT_STATES,
  needed,
  reason,
  order,
}: PaymentFilter): readonly (readonly [kind: string, ...of: string[]])[] {
  if (order !== undefined) return [['order', order]];
  if (reason !== undefined) return [['reason', reason]];
  if (needed) return [['needed']];
  const states = [state].flat();
  if (states.every((each) => each === 'overdue')) return [['overdue']];
  // Most are paid: as far back as a page looks at these, it looks at the others.
  return [...new Set(['paid', ...PAYMENT_STATES])]
    .filter((each) => states.some((one) => each === (one === 'overdue' ? 'open' : one)))
    .map((each) => ['state', each]);
}

function look<Tx>(
  { statements, settings }: OperatorContext<Tx>,
  { state = PAYMENT_STATES, needed, reason, search, provider, since, until, limit = 0 }: PaymentFilter,
  kind: string,
  [most = LOOKED_AT, ...own]: readonly SqlValue[],
): Promise<readonly Row[]> {
  // As it is stored: JSON, which escapes a NUL.
  const written = JSON.stringify(lowerCase(search ?? '')).slice(1, -1);
  const part = `%${written.replace(/[\\%_]/g, '\\$&')}%`;
  return statements.run(`list_payments of ${kind}`, [
    ...[settings.account, most, limit, JSON.stringify([state].flat())],
    ...[since?.getTime() ?? 0, until?.getTime() ?? LAST],
    ...[search === undefined || kind === 'key' ? null : part, provider ?? null],
    ...[reason ?? (needed ? '' : null), ...own],
  ]);
}

/** Those with exactly this reference, or with it in upper or lower case, also in the archive; and which have a row. */
async function findNamed<Tx>(
  context: OperatorContext<Tx>,
  filter: PaymentFilter,
  search: string,
): Promise<{ readonly names: readonly string[]; readonly found: readonly PaymentSummary[] }> {
  const { state = PAYMENT_STATES, needed, reason, provider, since, until } = filter;
  const { account } = context.settings;
  const spelled = [...new Set([search, lowerCase(search), upperCase(search)])];
  const archived = new Map<string, PaymentKey>();
  for (const text of spelled)
    for (const keys of [{ merchant_reference: text }, { internal_reference: text }])
      for (const { signed } of await findArchived(context.statements, { keys, account }))
        archived.set(keysOf(signed, account).join(' '), signed);
  const references = [...spelled, ...[...archived.values()].map((one) => one.merchant_reference)];
  const keys = [
    references.map((text) => referenceKey(text, account)),
    spelled.map((text) => subjectKey(text, account)),
  ];
  const own = [LOOKED_AT, LAST, '', '', ...keys.map((list) => JSON.stringify(list))];
  const rows = await look(context, { ...filter, limit: LOOKED_AT }, 'key', own);
  const names = rows.map(nameOf);
  const found = await Promise.all(rows.filter(isFound).map((row) => readSummary(context, row)));
  const isAny = [needed, reason, provider, since, until].every((each) => each === undefined);
  for (const [name, payment] of isAny ? archived : []) {
    const summary = names.includes(name) ? undefined : await archivedPayment(context, payment);
    if (summary !== undefined && [state].flat().includes(summary.state)) found.push(summary);
  }
  return { names, found };
}

const isFound = (row: Row): boolean => numberOf(row, 'is_found') === 1;

const placeIn = (row: Row): Place => [
  numberOf(row, 'place'),
  textOf(row, 'reference_key'),
  textOf(row, 'transaction_type'),
];

const nameOf = (row: Row): string => placeIn(row).slice(1).join(' ');

const inOrder = ([at, ...one]: Place, [otherAt, ...other]: Place): number =>
  otherAt - at || (one.join(' ') < other.join(' ') ? 1 : -1);

/** Nothing follows a mark of another form. */
function markIn(after: string): Place {
  const [, at = -LAST, key = '', type = ''] = /^(-?\d{1,16}) ([\w-]{43}) ("[ -\uffff]*")$/.exec(after) ?? [];
  return [Number(at), key, type];
}

/** Only the letters whose case both databases know. */
const lowerCase = (text: string): string => text.replace(/[A-Z]+/g, (some) => some.toLowerCase());
const upperCase = (text: string): string => text.replace(/[a-z]+/g, (some) => some.toUpperCase());

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
