/** Statement files that are written from known payments, so that the right answer exists before the reader runs. */

import type { StatementFormat } from '../../src/reconciliation/reading/statement-format.ts';
import type { StatementVerdict } from '../../src/states.ts';

/** A line of a file, and what it must be read as. */
interface Known {
  /** By column; a string is the whole line. */
  readonly cells: Readonly<Record<string, string>> | string;
  readonly verdict: StatementVerdict;
  readonly sum?: readonly [of: 'in' | 'out' | 'not_understood', amount: number];
}

const UGX = 'UGX';
/** Stands for the line with the names of the columns. */
const NAMES = 'NAMES';
const grouped = (plain: string, mark: string, decimal = '.'): string => {
  const [whole = '', fraction] = plain.split('.');
  const digits = whole.replace(/\B(?=(\d{3})+$)/g, mark);
  return fraction === undefined ? digits : digits + decimal + fraction;
};
/** How digits are written, and which mark must then be stated. */
const NOTATIONS: Readonly<
  Record<string, readonly [write: (plain: string) => string, decimal?: 'point' | 'comma']>
> = {
  plain: [(plain) => plain],
  'a decimal comma': [(plain) => grouped(plain, '', ','), 'comma'],
  'groups by commas': [(plain) => grouped(plain, ','), 'point'],
  'groups by points': [(plain) => grouped(plain, '.', ','), 'comma'],
  'groups by spaces': [(plain) => grouped(plain, '\u00a0', ','), 'comma'],
  'groups by apostrophes': [(plain) => grouped(plain, "'"), 'point'],
  'a code': [(plain) => `${UGX} ${grouped(plain, ',')}`, 'point'],
  'a home sign': [(plain) => `UShs. ${grouped(plain, ',')}`, 'point'],
  'a home sign without a space': [(plain) => `Ush${grouped(plain, ',')}`, 'point'],
  'a home sign behind': [(plain) => `${grouped(plain, ',')}/=`, 'point'],
};

type Way = 'in' | 'out';
/** How the file says which way money went: the names of its columns of money, and their cells. */
const DIRECTIONS: Readonly<
  Record<string, readonly [write: (amount: string, way: Way) => readonly string[], format: StatementFormat]>
> = {
  'a minus in front': [(amount, way) => [way === 'out' ? `-${amount}` : amount], signed()],
  'a plus and a minus': [(amount, way) => [way === 'out' ? `- ${amount}` : `+${amount}`], signed()],
  'a typographic minus': [(amount, way) => [way === 'out' ? `\u2212${amount}` : amount], signed()],
  'a minus behind': [(amount, way) => [way === 'out' ? `${amount}-` : amount], signed()],
  parentheses: [(amount, way) => [way === 'out' ? `(${amount})` : amount], signed()],
  'DR and CR beside the amount': [(amount, way) => [`${amount} ${way === 'out' ? 'DR' : 'CR'}`], signed()],
  'two columns': [(amount, way) => (way === 'in' ? [amount, ''] : ['', amount]), twoColumns()],
  'two columns with zeros': [
    (amount, way) => (way === 'in' ? [amount, '0.00'] : ['0', amount]),
    twoColumns(),
  ],
  'two columns, the second with a minus': [
    (amount, way) => (way === 'in' ? [amount, ''] : ['', `-${amount}`]),
    twoColumns(),
  ],
  ...Object.fromEntries(
    [
      ['DR', 'CR'],
      ['Af', 'Bij'],
      ['S', 'H'],
      ['D', 'K'],
    ].map(([out = '', inward = '']) => [
      `a column of ${out} and ${inward}`,
      [(amount: string, way: Way) => [amount, way === 'out' ? out : inward], worded()] as const,
    ]),
  ),
  'a column of own words': [
    (amount, way) => [amount, way === 'out' ? 'paid away' : 'received'],
    { ...worded(), in: ['received'], out: ['paid away'] },
  ],
};
function signed(): StatementFormat {
  return { map: { amount: 'Betrag' } };
}
function twoColumns(): StatementFormat {
  return { map: { credit: 'Haben', debit: 'Soll' } };
}
function worded(): StatementFormat {
  return { map: { amount: 'Betrag', direction: 'Art' } };
}

/** ORD-1 is settled, of 1250.5; ORD-2, of 500, and ORD-3, of 1234567.89, are expected. Each adds lines, or changes verdicts. */
const REVERSALS: Readonly<Record<string, readonly [lines: readonly Said[], verdict?: StatementVerdict]>> = {
  none: [[]],
  'a status of the same id': [[said('ORD-2', 'Returned', 'in', 500, 'contradicted')], 'contradicted'],
  'a status of its own id': [
    [{ ...said('ORD-2', 'Returned', 'in', 500, 'contradicted'), id: 'R-1' }],
    'contradicted',
  ],
  'a debit of the same id': [[said('ORD-2', 'paid', 'out', 500, 'contradicted')], 'contradicted'],
  'a debit of its own id, of a part': [
    [{ ...said('ORD-2', 'paid', 'out', 200, 'contradicted'), id: 'R-1' }],
    'contradicted',
  ],
  'a failure of the same id': [[said('ORD-2', 'Failed', 'in', 500, 'not_paid')], 'contradicted'],
  'one id on two orders': [
    [{ ...said('ORD-9', 'paid', 'in', 500, 'not_expected'), id: 'INT-ORD-2' }],
    'contradicted',
  ],
  'a second payment': [[{ ...said('ORD-2', 'paid', 'in', 500, 'duplicate'), id: 'INT-2' }], 'duplicate'],
  'a status of what was settled': [[said('ORD-1', 'Returned', 'in', 1250.5, 'settled')]],
  'a debit of what was settled': [[said('ORD-1', 'paid', 'out', 1250.5, 'settled')]],
  'a word that is not known': [[said('ORD-2', 'Chargeback', 'in', 500, 'unknown_status')], 'unclear'],
};
interface Said {
  readonly reference: string;
  readonly status: string;
  readonly way: Way;
  readonly amount: number;
  readonly verdict: StatementVerdict;
  readonly id?: string;
  readonly text?: string;
}
function said(reference: string, status: string, way: Way, amount: number, verdict: StatementVerdict): Said {
  return { reference, status, way, amount, verdict };
}

interface File {
  readonly names: readonly string[];
  readonly front: readonly Known[];
  readonly body: readonly Known[];
  readonly hasNames: boolean;
  /** Of a row, or of the line of the names. */
  readonly write: (cells: readonly string[], isNames: boolean) => string;
  readonly ends: readonly string[];
}
const row = (cells: Record<string, string>, verdict: StatementVerdict, sum?: Known['sum']): Known => ({
  ...{ cells, verdict },
  ...(sum && { sum }),
});
const whole = (cells: string, verdict: StatementVerdict): Known => ({ cells, verdict });
const into =
  (...lines: readonly Known[]) =>
  (file: File): File => ({ ...file, body: [...file.body.slice(0, 2), ...lines, ...file.body.slice(2)] });
const named =
  (from: string, to: string) =>
  (file: File): File => ({ ...file, names: file.names.map((name) => (name === from ? to : name)) });
/** What a layout does to a file. */
const LAYOUTS: Readonly<Record<string, (file: File) => File>> = {
  plain: (file) => file,
  'no names': (file) => ({ ...file, hasNames: false }),
  'lines in front': (file) => ({ ...file, front: [whole('Konto;12345', 'heading'), whole('', 'heading')] }),
  'a separator behind rows': (file) => ({
    ...file,
    write: (cells, isNames) => file.write(isNames ? cells : [...cells, ''], isNames),
  }),
  'a separator behind the names': (file) => ({
    ...file,
    write: (cells, isNames) => file.write(isNames ? [...cells, ''] : cells, isNames),
  }),
  'the names again': into(whole(NAMES, 'heading')),
  'blank lines': into(whole('', 'blank'), whole(';;;;;', 'blank'), whole(' ; ', 'blank')),
  balances: into(
    row({ Text: 'Opening balance', MONEY: '9000' }, 'total'),
    row({ Ref: 'Endsaldo:', MONEY: '9500' }, 'total'),
  ),
  'a short total': into(whole('Total;;9500', 'total'), whole('Summe', 'total')),
  'a footer': into(whole('End of the statement', 'text'), whole(';;Page 1 of 2', 'text')),
  'Ctrl-Z': (file) => ({ ...file, body: [...file.body, whole('\u001a', 'blank')] }),
  'mixed line ends': (file) => ({ ...file, ends: ['\r\n', '\n', '\r'] }),
  'two columns of one name': named('Text', 'Ref'),
  'a column without a name': named('Id', ''),
  'a name with a comma, = and a space that does not break': named('Ref', 'Order,\u00a0no.=1'),
  'a line that continues': into(row({ Text: 'of the second quarter' }, 'text')),
  'a cell of two lines': into(row({ Text: '"of the second\nquarter"' }, 'text')),
  'a line that is cut off': into(whole('9;;ORD-3', 'wrong_length')),
  'a line without a reference': into(
    row({ Text: 'cash', State: 'paid', MONEY: '7' }, 'no_reference', ['not_understood', 7]),
  ),
  interest: into(row({ Text: 'Interest', MONEY: '9' }, 'charge', ['in', 9])),
};

/** Which of its kinds a file is of. */
export interface Kinds {
  readonly layout: string;
  readonly other: string;
  readonly direction: string;
  readonly notation: string;
  readonly reversal: string;
}
export const KINDS: Readonly<Record<keyof Kinds, readonly string[]>> = {
  layout: Object.keys(LAYOUTS),
  other: Object.keys(LAYOUTS),
  direction: Object.keys(DIRECTIONS),
  notation: Object.keys(NOTATIONS),
  reversal: Object.keys(REVERSALS),
};

export interface KnownStatement {
  readonly text: string;
  readonly format: StatementFormat;
  /** The number of the first line of each record, and its verdict. */
  readonly verdicts: readonly (readonly [line: number, verdict: StatementVerdict])[];
  readonly sums: Readonly<Record<'in' | 'out' | 'not_understood', number>>;
}

/** @param order Changes the order of the lines after the names. */
export function statementOf(
  { layout, other, direction, notation, reversal }: Kinds,
  order: (body: readonly Known[]) => readonly Known[] = (body) => body,
): KnownStatement {
  const [write, decimal] = NOTATIONS[notation] ?? [String];
  const [cellsOf, { map, ...words }] = DIRECTIONS[direction] ?? [() => [], signed()];
  const [lines, changed = 'paid_without_callback'] = REVERSALS[reversal] ?? [[]];
  const money = Object.values(map);
  const isCut = [layout, other].includes('a line that is cut off');
  const payments: readonly Said[] = [
    said('ORD-1', 'paid', 'in', 1250.5, 'settled'),
    said('ORD-2', 'paid', 'in', 500, changed),
    said('ORD-3', 'paid', 'in', 1234567.89, isCut ? 'unclear' : 'paid_without_callback'),
    ...lines,
    { ...said('FEE-1', 'paid', 'out', 3, 'charge'), text: 'bank charges' },
    { ...said('SUPPLIER', 'paid', 'out', 200.75, 'money_out'), text: 'rent' },
  ];
  const body = payments.map(({ reference, status, way, amount, verdict, id, text = 'goods' }): Known => {
    const own = cellsOf(write(String(amount)), way);
    const cells = { Text: text, Ref: reference, Id: id ?? `INT-${reference}`, State: status };
    const isSummed = ['paid', 'Chargeback'].includes(status);
    const of = verdict === 'unknown_status' ? 'not_understood' : way;
    return row(
      { ...cells, ...Object.fromEntries(money.map((name, at) => [name, own[at] ?? ''])) },
      verdict,
      isSummed ? [of, amount] : undefined,
    );
  });
  const names = ['Nr', 'Text', 'Ref', 'Id', 'State', ...money];
  const quoted = (cells: readonly string[]): string =>
    cells.map((cell) => (/^[^"]*;/.test(cell) ? `"${cell}"` : cell)).join(';');
  const plain: File = { names, front: [], body, hasNames: true, write: quoted, ends: ['\n'] };
  const file = [layout, other].reduce((made, name) => LAYOUTS[name]?.(made) ?? made, plain);
  const head = file.write(file.names, true);
  // Without names, nothing says what is in front of them or repeats them.
  const all = file.hasNames
    ? [...file.front, whole(head, 'heading'), ...order(file.body)]
    : order(file.body.filter(({ cells }) => cells !== NAMES));
  const sums = { in: 0, out: 0, not_understood: 0 };
  const verdicts: [number, StatementVerdict][] = [];
  const ends = all.map((_, index) => file.ends[index % file.ends.length] ?? '\n');
  let text = '';
  let at = 1;
  for (const [index, { cells, verdict, sum }] of all.entries()) {
    if (sum !== undefined) sums[sum[0]] += sum[1];
    const { MONEY, ...others } = typeof cells === 'string' ? {} : cells;
    const own = MONEY === undefined ? [] : cellsOf(write(MONEY), 'in');
    const filled: Record<string, string> = { Nr: String(index), ...others };
    for (const [place, name] of money.entries()) filled[name] ??= own[place] ?? '';
    const line =
      cells === NAMES
        ? head
        : typeof cells === 'string'
          ? cells
          : file.write(
              names.map((name) => (name === 'Nr' && others['Ref'] === undefined ? '' : (filled[name] ?? ''))),
              false,
            );
    text += line + ends[index];
    verdicts.push([at, verdict]);
    at += line.includes('\n') ? 2 : 1;
  }
  const columnOf = (name: string): string => {
    const place = names.indexOf(name);
    const own = file.names[place] ?? '';
    const isPlain = file.hasNames && own !== '' && file.names.filter((one) => one === own).length === 1;
    return isPlain ? own : `#${place + 1}`;
  };
  const fields = { merchant_reference: 'Ref', internal_reference: 'Id', transaction_status: 'State', ...map };
  const columns = Object.entries(fields).map(([field, name]) => [field, columnOf(name)] as const);
  const format: StatementFormat = {
    map: Object.fromEntries(columns),
    set: { transaction_type: 'COLLECTION', currency: UGX },
    paid: 'paid',
    statuses: { Returned: 'reversed', Failed: 'failed' },
    separator: 'semicolon',
    ...words,
    ...(decimal && { decimal }),
    ...(!file.hasNames && { headerAt: 0 }),
  };
  return { text, format, verdicts, sums };
}

/** Every pair of kinds is in at least one of these. */
export function allPairs(): Kinds[] {
  const names = Object.keys(KINDS) as (keyof Kinds)[];
  const left = new Set<string>();
  const pairsOf = (kinds: Partial<Kinds>): string[] =>
    names.flatMap((one, at) =>
      names.slice(at + 1).map((two) => JSON.stringify([one, kinds[one], two, kinds[two]])),
    );
  for (const [at, one] of names.entries())
    for (const two of names.slice(at + 1))
      for (const [index, a] of KINDS[one].entries())
        for (const b of KINDS[two].slice(two === 'other' ? index : 0))
          left.add(JSON.stringify([one, a, two, b]));
  const chosen: Kinds[] = [];
  for (const pair of left) {
    if (!left.has(pair)) continue;
    const [one, a, two, b] = JSON.parse(pair) as [keyof Kinds, string, keyof Kinds, string];
    let kinds: Partial<Kinds> = { [one]: a, [two]: b };
    for (const name of names) {
      if (kinds[name] !== undefined) continue;
      const gain = (value: string): number =>
        pairsOf({ ...kinds, [name]: value }).filter((each) => left.has(each)).length;
      const [best = ''] = KINDS[name].toSorted((x, y) => gain(y) - gain(x));
      kinds = { ...kinds, [name]: best };
    }
    for (const each of pairsOf(kinds)) left.delete(each);
    chosen.push(kinds as Kinds);
  }
  return chosen;
}
