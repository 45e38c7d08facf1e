import { ConfigurationError } from '@payment-service/core';
import {
  badge,
  bullets,
  capital,
  counted,
  type Field,
  type Filled,
  fieldsOf,
  form,
  html,
  type Markup,
  note,
  tableOf,
  time,
  utc,
} from '@payment-service/pages';
import { DECIMALS } from '../../reconciliation/amount-text.ts';
import type { BalanceReport, SettledTotal } from '../../reconciliation/balances.ts';
import { ENCODINGS } from '../../reconciliation/decoded.ts';
import { chargesIn, kindsIn, type Pairs, pairsIn } from '../../reconciliation/pairs.ts';
import {
  COLUMN_FIELDS,
  type HowRead,
  previewFields,
  readStatement,
  SEPARATORS,
  type StatementFormat,
} from '../../reconciliation/read-statement.ts';
import { STATEMENT_VERDICTS, type StatementReport } from '../../reconciliation/statement.ts';
import type { StatementVerdict } from '../../states.ts';
import { at, consolePage, forbiddenPage, type View } from './page.ts';
import { money, moneyText } from './summary.ts';

const DAYS: readonly Field[] = [
  { name: 'from', label: 'From', type: 'date' },
  { name: 'to', label: 'Until (exclusive)', type: 'date' },
];
const HINT = 'How long before and after its settlement here a collection may be credited, in seconds.';
const BALANCES: readonly Field[] = [
  ...DAYS,
  { name: 'before', label: 'Credited before', hint: HINT, type: 'number' },
  { name: 'after', label: 'Credited after', type: 'number' },
  { name: 'charges', label: 'Shares kept as charges', hint: 'Such as UGX=0..0.03. Empty: anything.' },
  { name: 'kinds', label: 'What other types do', hint: 'Such as PAYOUT=paid_out.' },
];
const FILE = 'CSV with a header, up to 2 MB. The command reads larger ones.';
const STATEMENT: readonly Field[] = [
  { name: 'file', label: 'Statement', hint: FILE, type: 'file' },
  ...DAYS,
  { name: 'note', label: 'Why', hint: 'Kept with your name.' },
  ...COLUMN_FIELDS.map((name) => ({ name, label: name })),
];
/** For files that are not read by default. */
const WRITTEN: readonly Field[] = [
  { name: 'paid', label: 'Its word for a paid status', value: 'COMPLETED' },
  { name: 'headerAt', label: 'Line of the column names', hint: 'Empty: found by the names.', type: 'number' },
  { name: 'type', label: 'The only type in the file', hint: 'Empty: every type.' },
];

const CHOICES: readonly (readonly [Field, byDefault: string, others: readonly string[]])[] = [
  [{ name: 'separator', label: 'Between two columns' }, 'found by the names', Object.keys(SEPARATORS)],
  [{ name: 'decimal', label: 'In front of decimals' }, 'a point, no groups', DECIMALS],
  [{ name: 'encoding', label: 'Encoding' }, 'utf-8, or its mark', ENCODINGS],
];

/** The unexplained part of the recorded balances, and a statement compared with what was settled. */
export async function reconcilePage(view: View, sent?: URLSearchParams): Promise<Response> {
  const { query, proof, access } = view;
  if (!access.may.includes('reconcile')) return forbiddenPage(view, 'reconcile');
  const [found, problem] = sent === undefined ? [] : await compared(view, sent);
  const asked = fieldsOf('balances', { form: 'balances', typed: Object.fromEntries(query) });
  const filled = sent && { form: 'statement', typed: Object.fromEntries(sent), problem };
  const fields = fieldsOf('statement', filled);
  // A bookmark can hold the columns of a file, such as map=amount=Total,currency==UGX.
  const known = {
    ...pairsIn(query.get('map') ?? ''),
    from: query.get('from') ?? '',
    to: query.get('to') ?? '',
  };
  const prefilled = (field: Field): Field => ({
    ...field,
    value: known[field.name as 'from'] ?? field.value ?? '',
  });
  const path = at(view, '/reconcile');
  const isUnread = [...WRITTEN, ...CHOICES.map(([field]) => field)].some(
    ({ name }) => name === problem?.field,
  );
  const settle = found?.dryRun && found.applied > 0 ? `Settle ${counted(found.applied, 'payment')}` : '';
  return consolePage(view, {
    title: 'Reconcile',
    section: '/reconcile',
    refused: problem && filled && { filled, status: 422 },
    isStill: true,
    body: html`<section class="stack"><h2>Balances</h2>
<p class="quiet">What was settled, and what the wallets gained between two recorded balances.</p>
<form class="form columns card" id="balances" action="${path}">${BALANCES.map(asked.field)}<div class="actions"><button>Compare the balances</button></div></form>
${query.has('from') ? await balances(view) : ''}</section>
<section class="stack"><h2>Statement</h2>
<p class="quiet">For each field, the name of its column in the file; or = and the value of every row, such as =UGX. The first comparison changes nothing.</p>
${found === undefined ? '' : result(found)}
<div class="card">${form('statement', query.size === 0 ? path : `${path}?${query}`, {
      hidden: { proof: proof.value, kept: sent?.get('kept') ?? '' },
      isMultipart: true,
      fields: html`${STATEMENT.map((field) => fields.field(prefilled(field)))}<details id="written"${isUnread ? html` open` : ''}><summary>How the file is written</summary><div class="form columns">${WRITTEN.map((field) => fields.field(prefilled(field)))}${CHOICES.map(([field, byDefault, others]) => fields.choice(field, [['', byDefault], ...others.map((name) => [name, name] as const)]))}</div></details>${fields.problem()}`,
      button: 'Compare the statement',
      after: settle && html`<button class="danger" name="apply" value="yes">${settle}</button>`,
    })}</div></section>`,
  });
}

async function balances({ inbox, query }: View): Promise<Markup> {
  const period = periodIn(query);
  const seconds = (name: string): number => Number(query.get(name) || Number.NaN);
  const pairs = (name: string): Pairs | undefined => pairsIn(query.get(name) ?? '');
  const creditedWithin = { secondsBefore: seconds('before'), secondsAfter: seconds('after') };
  const inputs = { kinds: kindsIn(pairs('kinds')), charges: chargesIn(pairs('charges')) };
  try {
    const settled = totals('settled', await inbox.totals(period));
    if (!query.get('before')) return settled;
    return html`${settled}${wallets(await inbox.reconcile({ ...period, creditedWithin, ...inputs }))}`;
  } catch (error) {
    if (error instanceof ConfigurationError) return note('bad', error.message);
    throw error;
  }
}

const totals = (name: string, found: readonly SettledTotal[]): Markup =>
  tableOf(
    name,
    ['Type', 'Amount | number', 'Payments | number'],
    found,
    ({ transaction_type: type, compare, ...one }) => [
      compare === 'both' ? type : `${type}, compared by its ${compare}`,
      moneyText(one),
      String(one.count),
    ],
  );

const UNEXPLAINED: Readonly<Record<string, string>> = {
  more: 'more than was settled',
  less: 'less than was settled',
};

/** The gain of each wallet against the interval that it should be in. */
function gains({ before, after, wallets: found }: BalanceReport): Markup {
  const wrong = found.filter(({ verdict }) => verdict !== 'explained');
  const nameOf = ({ wallet_type: type, currency }: (typeof found)[number]): string => `${type} ${currency}`;
  const text = (currency: string, amount: string): string => moneyText({ currency, amount });
  return bullets({
    id: 'gains',
    title:
      wrong.length === 0
        ? `The gain of ${found.length === 1 ? 'the wallet' : `all ${found.length} wallets`} is explained`
        : wrong
            .map(({ currency, unexplained, verdict }) =>
              unexplained === undefined
                ? `the ${currency} wallet is not in both balances`
                : `${text(currency, unexplained.replace('-', ''))} ${UNEXPLAINED[verdict]}`,
            )
            .join(', '),
    note: `What each wallet gained from ${utc(before.getTime())} to ${utc(after.getTime())}, and what it should have gained.`,
    rows: found.map((one) => ({
      name: nameOf(one),
      least: Number(one.expected.least),
      most: Number(one.expected.most),
      value: one.gained === undefined ? undefined : Number(one.gained),
      text: one.gained === undefined ? 'no balance' : `gained ${text(one.currency, one.gained)}`,
    })),
    legend: [
      ['neutral', 'should have gained'],
      ['accent', 'gained'],
      ['bad', 'unexplained'],
    ],
    figures: [
      ['Wallet', 'At least', 'At most', 'Gained', 'Unexplained'],
      ...found.map((one) => [
        nameOf(one),
        text(one.currency, one.expected.least),
        text(one.currency, one.expected.most),
        one.gained === undefined ? '' : text(one.currency, one.gained),
        one.unexplained === undefined ? '' : text(one.currency, one.unexplained),
      ]),
    ],
  });
}

const wallets = (report: BalanceReport): Markup => {
  const { before, after, wallets: found, uncounted } = report;
  return html`<p>Balances recorded at ${time(before.getTime())} and ${time(after.getTime())}.</p>
${
  found.length > 0 &&
  html`<div class="charted">${gains(report)}<div>${tableOf(
    'wallets',
    ['Wallet', 'Verdict', 'Unexplained | number', 'What it means'],
    found,
    (one) => [
      `${one.wallet_type} ${one.currency}`,
      badge(one.verdict === 'explained' ? 'good' : 'bad', capital(one.verdict.replace('_', ' '))),
      one.unexplained === undefined ? '' : money({ currency: one.currency, amount: one.unexplained }),
      one.message,
    ],
  )}</div></div>`
}
${uncounted.length === 0 ? '' : html`<h3>Settled, and in no interval</h3>${totals('uncounted', uncounted)}`}`;
};

/** A report, and how its file was read. */
interface Compared extends StatementReport {
  readonly read: HowRead;
}

/** What each column became: read before anything is settled. A field is a row, so that it fits on a phone. */
function preview(read: HowRead): Markup {
  const { encoding, separator, headerAt, preview: rows, leftOut } = read;
  const { debits, atTheEnd } = leftOut;
  return html`<p class="quiet">Read as ${encoding}, with a ${separator} between columns and their names in line ${headerAt}.${
    debits + atTheEnd === 0
      ? ''
      : ` Left out: ${counted(debits, 'debit')}, and ${counted(atTheEnd, 'line')} after the last payment, such as a total.`
  } In the first rows:</p>
${tableOf('preview', ['Field', 'Its values'], previewFields(read), (name) => [name, [...new Set(rows.map((row) => row[name] || '–'))].join(' · ')])}`;
}

function result({ counts, samples, rows, applied, dryRun, isClean, read }: Compared): Markup {
  const verdicts = Object.entries(counts).filter(([, count]) => count > 0);
  const others = samples.filter(({ verdict }) => verdict !== 'settled' && verdict !== 'not_paid');
  const done = dryRun ? 'would be settled by their rows' : 'settled by their rows';
  return html`<div class="stack" id="result">${note(isClean ? 'good' : 'wait', `${counted(rows, 'row')}; ${applied} ${done}.`)}
${preview(read)}
${tableOf('verdicts', ['Verdict', 'Rows | number', 'Meaning'], verdicts, ([verdict, count]) => [verdict, String(count), STATEMENT_VERDICTS[verdict as StatementVerdict]])}
${tableOf('findings', ['Reference', 'Verdict', 'Row', 'Detail'], others, (one) => [one.merchant_reference, one.verdict, String(one.row ?? ''), one.detail ?? ''])}</div>`;
}

/** Keeps the file in the form, so that it need not be chosen again for the confirmation. */
async function compared(
  { inbox, access: { by } }: View,
  sent: URLSearchParams,
): Promise<[Compared | undefined, Filled['problem']]> {
  const read = (name: string): string => sent.get(name)?.trim() ?? '';
  if (read('file') !== '') sent.set('kept', read('file'));
  const given = COLUMN_FIELDS.filter((name) => read(name) !== '');
  const fixed = given.filter((name) => read(name).startsWith('='));
  const columns = given.filter((name) => !fixed.includes(name));
  try {
    const choice = <T extends string>(name: string, of: readonly T[]): T | undefined =>
      of.find((one) => one === read(name));
    const format: StatementFormat = {
      map: Object.fromEntries(columns.map((name) => [name, read(name)])),
      set: Object.fromEntries(fixed.map((name) => [name, read(name).slice(1)])),
      paid: read('paid'),
      separator: choice('separator', Object.keys(SEPARATORS) as (keyof typeof SEPARATORS)[]),
      decimal: choice('decimal', DECIMALS),
      encoding: choice('encoding', ENCODINGS),
      headerAt: read('headerAt') === '' ? undefined : Number(read('headerAt')),
    };
    const { rows, ...found } = await readStatement(Buffer.from(read('kept'), 'base64'), format);
    const only = { transaction_type: read('type') || undefined, dryRun: read('apply') !== 'yes' };
    const options = { ...periodIn(sent), by, note: read('note'), ...only };
    return [{ ...(await inbox.reconcileStatement(rows, options)), read: found }, undefined];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const { option, message: text } = error;
    return [undefined, { text, field: option === 'statement' ? 'file' : option }];
  }
}

function periodIn(query: URLSearchParams): { from: Date; to: Date } {
  const day = (name: string): Date => new Date(`${query.get(name)}T00:00Z`);
  return { from: day('from'), to: day('to') };
}
