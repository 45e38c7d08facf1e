import { Readable } from 'node:stream';
import { ConfigurationError, InvalidInputError } from '@payment-service/core';
import {
  counted,
  type Field,
  type Filled,
  fieldsOf,
  form,
  html,
  type Markup,
  note,
  tableOf,
} from '@payment-service/pages';
import { DECIMALS } from '../../reconciliation/reading/amount-text.ts';
import { ENCODINGS } from '../../reconciliation/reading/encodings.ts';
import { SEPARATOR_NAMES } from '../../reconciliation/reading/file-records.ts';
import { pairsIn } from '../../reconciliation/reading/name-value-pairs.ts';
import { type HowRead, previewFields, readStatement } from '../../reconciliation/reading/read-statement.ts';
import {
  COLUMN_FIELDS,
  FORMAT_FIELDS,
  type FormatField,
  type StatementFormat,
} from '../../reconciliation/reading/statement-format.ts';
import {
  STATEMENT_VERDICTS,
  type StatementFinding,
  type StatementReport,
} from '../../reconciliation/statement-report.ts';
import {
  FINDING_COLUMNS,
  findingCells,
  needsLook,
  occurring,
  readingOf,
  sentencesOf,
} from '../../reconciliation/statement-words.ts';
import { STATUS_MEANINGS } from '../../states.ts';
import { table } from '../csv.ts';
import { DAYS, periodIn } from './balances.ts';
import { at, type Refused, type View } from './page.ts';
import { moneyText } from './summary.ts';

const FILE = 'CSV, up to 2 MB. The command reads larger ones.';
const STATEMENT: readonly Field[] = [
  { name: 'file', label: 'Statement', hint: FILE, type: 'file' },
  ...DAYS,
  ...COLUMN_FIELDS.map((name) => ({ name, label: name })),
];
/** For files that are not read by default. */
const WRITTEN: readonly Field[] = [
  { name: 'paid', label: 'Its word for a paid status', hint: 'Empty: COMPLETED.' },
  {
    name: 'statuses',
    label: 'What its other statuses mean',
    hint: `Such as Returned=reversed: ${STATUS_MEANINGS.join(', ')}.`,
  },
  {
    name: 'in',
    label: 'Its words for money in',
    hint: 'In the column direction, with commas between them. CR, C, H and others are known.',
  },
  { name: 'out', label: 'Its words for money out' },
  {
    name: 'headerAt',
    label: 'Line of the column names',
    hint: 'Empty: found by the names. 0: the file has none, and columns have numbers such as #3.',
    type: 'number',
  },
  { name: 'type', label: 'The only type in the file', hint: 'Empty: every type.' },
];

const CHOICES: readonly (readonly [Field, byDefault: string, others: readonly string[]])[] = [
  [{ name: 'separator', label: 'Between two columns' }, 'found by the names', SEPARATOR_NAMES],
  [{ name: 'decimal', label: 'In front of decimals' }, 'a point, no groups', DECIMALS],
  [{ name: 'encoding', label: 'Encoding' }, 'utf-8, or its byte order mark', ENCODINGS],
  [{ name: 'quotes', label: 'Quotation marks' }, 'around cells', ['text']],
];
const KEEP: Field = {
  name: 'keep',
  label: 'Keep all this as',
  hint: 'The name of the bank or wallet, for next month. Optional.',
};
/** Where the words of the file are stated. */
const BELOW = { transaction_status: 'below', direction: 'below' };
/** A form has at most 100 fields. */
const MAX_CHOSEN = 50;

/** The form of a statement, and what became of the file that was sent with it. */
export interface StatementPart {
  readonly body: Markup;
  readonly refused: Refused | undefined;
}

/** @returns the file that the visitor downloads. */
export async function statementPart(view: View, sent?: URLSearchParams): Promise<StatementPart | Response> {
  const { query, proof } = view;
  const kept = await view.inbox.statementFormats();
  const [found, problem] = sent === undefined ? [] : await compared(view, sent, kept);
  if (found instanceof Response) return found;
  const filled = sent && { form: 'statement', typed: Object.fromEntries(sent), problem };
  const fields = fieldsOf('statement', filled);
  // A bookmark can hold the columns of a file, such as map=amount=Total,currency==UGX.
  const known = {
    ...pairsIn(query.get('map') ?? ''),
    from: query.get('from') ?? '',
    to: query.get('to') ?? '',
  };
  const ask = (field: Field): Markup =>
    fields.field({ ...field, value: known[field.name as 'from'] ?? field.value ?? '' });
  const path = at(view, '/reconcile');
  const action = query.size === 0 ? path : `${path}?${query}`;
  const banks = Object.keys(kept).map((name) => [name, name] as const);
  const isCompared = found !== undefined && 'counts' in found;
  const isUnread =
    FORMAT_FIELDS.some((name) => name === problem?.field) ||
    (isCompared && Object.values(found.words).some((words) => Object.keys(words).length > 0));
  const bank =
    banks.length === 0
      ? ''
      : fields.choice({ name: 'bank', label: 'Read as', hint: 'As kept in another month.' }, [
          ['', 'stated below'],
          ...banks,
        ]);
  const body = html`<section class="stack"><h2>Statement</h2>
<p class="quiet">Choose a file. Then enter the column of each field, or = and the value of every line, such as =UGX. Nothing is settled until you choose it.</p>
${found === undefined ? '' : isCompared ? result(found) : columnsFound(found)}
<div class="card">${form('statement', action, {
    hidden: { proof: proof.value, kept: sent?.get('kept') ?? '' },
    isMultipart: true,
    fields: html`${bank}${STATEMENT.map(ask)}<details id="written"${isUnread ? html` open` : ''}><summary>How the file is written</summary><div class="form columns">${WRITTEN.map(ask)}${CHOICES.map(([field, byDefault, others]) => fields.choice(field, [['', byDefault], ...others.map((name) => [name, name] as const)]))}</div></details>${fields.field(KEEP)}${isCompared ? chosen(found, fields) : ''}${fields.problem()}`,
    button: 'Compare the statement',
    // With its own address, the browser sends it, not the script: the answer is a file and not a page.
    after: isCompared
      ? html`<button name="download" value="yes" formaction="${action}">Download the verdict of each line</button>`
      : '',
  })}</div></section>`;
  return { body, refused: problem && filled && { filled, status: 422 } };
}

/** A report, how its file was read, and the payments that its lines can settle: the first of them. */
interface Compared extends StatementReport {
  readonly read: HowRead;
  readonly due: readonly StatementFinding[];
}

/** What each column became: read before anything is settled. A field is a row, so that it fits on a phone. */
function preview(read: HowRead): Markup {
  const { preview: lines } = read;
  return html`<p class="quiet">${readingOf(read)} In the first lines:</p>
${tableOf('preview', ['Field', 'Its values | wide'], previewFields(read), (name) => [name, [...new Set(lines.map(({ row }) => row[name] || '–'))].join(' · ')])}`;
}

/** Before the columns are stated: a proposal, which the form shows. */
const columnsFound = ({ columns }: HowRead): Markup =>
  html`<div class="stack" id="columns">${note('wait', 'Which column is which?', 'The form below proposes them by their names. Correct it, then compare.')}
${tableOf(
  'names',
  ['Column', 'Its name | wide'],
  columns.map((name, place) => [`#${place + 1}`, name]),
  (row) => row,
)}</div>`;

function result(found: Compared): Markup {
  const [first = '', ...others] = sentencesOf(found, BELOW);
  const left = found.samples.filter((one) => needsLook(one) && !isDue(one));
  return html`<div class="stack" id="result">${note(found.isClean ? 'good' : 'wait', first, others.join(' '))}
${preview(found.read)}
${tableOf('verdicts', ['Verdict', ['Lines', 'number'], 'Meaning'], occurring(found), ([verdict, count]) => [verdict, String(count), STATEMENT_VERDICTS[verdict].meaning])}
${tableOf('findings', ['Reference', 'Verdict', 'Line', ['Amount', 'number'], 'Detail'], left, (one) => [one.merchant_reference, one.verdict, String(one.line ?? ''), amountOf(one), one.detail ?? ''])}</div>`;
}

/** It can be chosen below. */
const isDue = ({ verdict, transitionId }: StatementFinding): boolean =>
  verdict === 'paid_without_callback' && transitionId !== undefined;

const amountOf = ({ currency, amount }: StatementFinding): string =>
  currency === undefined || amount === undefined ? '' : moneyText({ currency, amount });

/** The payments that could be settled: the operator chooses which. */
function chosen(
  { due, dryRun, counts, applied, sums }: Compared,
  fields: ReturnType<typeof fieldsOf>,
): Markup | string {
  if (due.length === 0) return '';
  const all = counts.paid_without_callback - (dryRun ? 0 : applied);
  const money = dryRun ? ` (${sums.applied.map(moneyText).join(' and ')})` : '';
  return html`<fieldset class="stack wide-field" id="due"><legend>${counted(all, 'payment')} without a callback${money}</legend>
${due.length < all ? html`<p class="quiet">The first ${due.length}. Settle these, then compare again for the rest.</p>` : ''}
${due.map((one) => html`<label class="check"><input type="checkbox" name="only" value="${one.transitionId ?? ''}"> ${one.merchant_reference}: ${amountOf(one)}, line ${one.line ?? ''}</label>`)}
${fields.field({ name: 'note', label: 'Why', hint: 'Kept with your name.' })}
<div class="actions"><button class="danger" name="apply" value="yes">Settle the chosen payments</button></div></fieldset>`;
}

/** A value as the text of a form field. */
const textIn = (value: unknown): string =>
  Array.isArray(value) || typeof value !== 'object'
    ? String(value ?? '')
    : Object.entries(value ?? {})
        .map((pair) => pair.join('='))
        .join(',');

/** The fields of the form that a format has. */
function fieldsIn({ map, set = {}, ...others }: StatementFormat): Record<string, string> {
  const none = COLUMN_FIELDS.map((name) => [name, '']);
  const fixed = Object.entries(set).map(([name, value]) => [name, `=${value}`]);
  const written = FORMAT_FIELDS.map((name) => [name, textIn(others[name])]);
  return { ...Object.fromEntries([...none, ...fixed, ...written]), ...map };
}

/** Fields that are not strings. A value of another form is refused where it is checked. */
const READ: Readonly<Partial<Record<FormatField, (text: string) => unknown>>> = {
  statuses: (text) => pairsIn(text) ?? text,
  in: (text) => text.split(',').map((word) => word.trim()),
  out: (text) => text.split(',').map((word) => word.trim()),
  headerAt: Number,
};

/** What the form says about the file. */
function formatIn(read: (name: string) => string): StatementFormat {
  const given = COLUMN_FIELDS.filter((name) => read(name) !== '');
  const fixed = given.filter((name) => read(name).startsWith('='));
  const columns = given.filter((name) => !fixed.includes(name));
  const written = FORMAT_FIELDS.filter((name) => read(name) !== '');
  return {
    map: Object.fromEntries(columns.map((name) => [name, read(name)])),
    set: Object.fromEntries(fixed.map((name) => [name, read(name).slice(1)])),
    ...Object.fromEntries(written.map((name) => [name, (READ[name] ?? String)(read(name))])),
  };
}

/** Keeps the file in the form, so that it need not be chosen again for the next step. */
async function compared(
  { inbox, timeZone, access: { by } }: View,
  sent: URLSearchParams,
  kept: Readonly<Record<string, StatementFormat>>,
): Promise<[Compared | HowRead | Response | undefined, Filled['problem']]> {
  const read = (name: string): string => sent.get(name)?.trim() ?? '';
  if (read('file') !== '') sent.set('kept', read('file'));
  const bank = Object.hasOwn(kept, read('bank')) ? kept[read('bank')] : undefined;
  if (bank !== undefined) {
    for (const [name, value] of Object.entries(fieldsIn(bank))) sent.set(name, value);
    // What is changed in the form counts from now on.
    sent.set('bank', '');
  }
  try {
    const format = formatIn(read);
    const { lines, ...how } = await readStatement(Buffer.from(read('kept'), 'base64'), format);
    if (Object.keys(format.map).length === 0) {
      for (const [name, column] of Object.entries(how.proposed)) sent.set(name, column);
      return [how, undefined];
    }
    const isApplied = read('apply') === 'yes';
    const found: StatementFinding[] = [];
    const chosen = isApplied
      ? { dryRun: false, only: sent.getAll('only'), note: read('note') }
      : { note: 'compared' };
    const report = await inbox.reconcileStatement(lines, {
      ...{ ...periodIn(sent, timeZone), by, transaction_type: read('type') || undefined, ...chosen },
      onFinding: (one) => found.push(one),
    });
    if (read('keep') !== '') await inbox.keepStatementFormat(read('keep'), format);
    if (read('download') === 'yes')
      return [table('verdicts', FINDING_COLUMNS, Readable.from(found), findingCells), undefined];
    const settled = new Set(isApplied ? chosen.only : []);
    const due = found.filter((one) => isDue(one) && !settled.has(one.transitionId ?? ''));
    return [{ ...report, read: how, due: due.slice(0, MAX_CHOSEN) }, undefined];
  } catch (error) {
    // The form states a whole format, which a program would write down.
    if (error instanceof ConfigurationError) return [undefined, { text: error.message, field: error.option }];
    if (!(error instanceof InvalidInputError)) throw error;
    const { field, message: text } = error;
    return [undefined, { text, field: field === 'statement' ? 'file' : field }];
  }
}
