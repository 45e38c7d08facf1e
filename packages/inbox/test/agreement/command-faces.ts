import type { PaymentSummary } from '../../src/operator/payments/payment-summary.ts';
import type { PaymentSum } from '../../src/operator/payments/sums.ts';
import type { PaymentKey } from '../../src/verdict/restate.ts';
import { type CommandResult, commandOn } from '../support/command.ts';
import {
  addTo,
  type Face,
  type Looked,
  mustBeSums,
  type Numbers,
  nameOf,
  type Said,
  saidInSentence,
  saidInWords,
  saidOf,
} from './said.ts';

const MUST_LOOK = /^overdue|^\w+, /;

/** The lists of the command: for programs, for programs in pages of one, and for people. */
export const COMMAND_LISTS: Readonly<Record<'json' | 'pages' | 'words', Face>> = {
  json: (looked) => pages(looked),
  pages: (looked) => pages(looked, '--limit', '1'),
  async words(looked) {
    const found = new Map<string, Said>();
    const { code, stdout } = await run(looked, 'payments');
    const [list = '', sums] = stdout.split('\n\n');
    for (const { state = '', money = '', reference, type, why = '' } of rowsIn(list)) {
      const said = saidInWords(state, why.replace(/ \(\w+\)$/, ''), money === '-' ? '' : money);
      addTo(found, `${reference} ${type}`, said);
    }
    const shown = rowsIn(sums).map(({ type, currency, expected, credited }) =>
      [type, currency, expected, credited].join(' ').replaceAll(',', ''),
    );
    mustBeSums(shown.toSorted().join(), found);
    mustEnd(code, found);
    return found;
  },
};

/** The payments of the command, one by one. */
export const COMMAND_PAYMENTS: Readonly<Record<'json' | 'words', Face>> = {
  json: (looked) => each(looked, ['--json'], (stdout) => saidOf(JSON.parse(stdout))),
  words: (looked) =>
    each(looked, [], (stdout) => {
      const [heading = '', sentence = ''] = stdout.split('\n');
      return saidInSentence(heading, sentence);
    }),
};

/** How many payments there are in each state, and how many need a person. */
export async function countsOfCommand(looked: Looked): Promise<Numbers> {
  const { archived, oldestDueSeconds, spooled, ...counts } = JSON.parse(
    (await run(looked, 'counts', '--json')).stdout,
  );
  const { stdout } = await run(looked, 'counts');
  const [states = ''] = stdout.split('\n\n');
  const shown = rowsIn(states).map(({ state = '', payments }) => [state.toLowerCase(), Number(payments)]);
  const needed = Number(/need a person: (\d+)/.exec(stdout)?.[1]);
  const [one, other] = [counts, { ...Object.fromEntries(shown), needed }].map((each) => JSON.stringify(each));
  if (one !== other) throw new Error(`counts --json says ${one}, and counts ${other}.`);
  return counts;
}

/** What was credited, by currency and type. */
export async function totalsOfCommand(looked: Looked): Promise<Numbers> {
  const days = JSON.parse((await run(looked, 'totals', '--json')).stdout);
  const all: Record<string, number> = {};
  for (const { currency, transaction_type, amount } of days) {
    const name = `${currency} ${transaction_type}`;
    all[name] = (all[name] ?? 0) + Number(amount);
  }
  return all;
}

async function run({ merchant, account }: Looked, ...args: readonly string[]): Promise<CommandResult> {
  return commandOn(merchant).run(...args, '--account', account);
}

async function pages(looked: Looked, ...flags: readonly string[]): Promise<Map<string, Said>> {
  const found = new Map<string, Said>();
  for (let mark: readonly string[] = []; ; ) {
    const { code, stdout } = await run(looked, 'payments', '--json', ...flags, ...mark);
    const { items, sums, next }: Page = JSON.parse(stdout);
    const page = new Map(items.map((payment) => [nameOf(payment), saidOf(payment)]));
    for (const [name, said] of page) addTo(found, name, said);
    const shown = sums.map((sum) =>
      [sum.transaction_type, sum.currency, sum.expected, sum.credited].join(' '),
    );
    mustBeSums(shown.toSorted().join(), page);
    mustEnd(code, page);
    if (next === undefined) return found;
    mark = ['--after', next];
  }
}

interface Page {
  readonly items: readonly PaymentSummary[];
  readonly sums: readonly PaymentSum[];
  readonly next?: string;
}

/** Fails if the exit code does not say whether a payment of the list needs a person. */
function mustEnd(code: number, page: ReadonlyMap<string, Said>): void {
  const expected = [...page.values()].some((said) => MUST_LOOK.test(said)) ? 3 : 0;
  if (code !== expected) throw new Error(`A list ends with ${code}, not ${expected}: ${[...page.values()]}.`);
}

async function each(
  looked: Looked,
  flags: readonly string[],
  read: (stdout: string) => Said,
): Promise<Map<string, Said>> {
  const found = new Map<string, Said>();
  for (const key of looked.keys) {
    const { code, stdout, stderr } = await run(looked, 'payment', ...namesOf(key), ...flags);
    if (code === 0) found.set(nameOf(key), read(stdout));
    else if (!stderr.includes('Nothing is known about this payment.')) throw new Error(stderr);
  }
  return found;
}

const namesOf = ({ merchant_reference, transaction_type }: PaymentKey): string[] => [
  merchant_reference,
  '--type',
  transaction_type,
];

/** The rows of a table of the command: each cell by the heading of its column. */
function rowsIn(text = ''): Readonly<Record<string, string>>[] {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const columns = [...head.matchAll(/\S+/g)].map(({ 0: name, index }) => ({ name, index }));
  return lines.map((line) =>
    Object.fromEntries(
      columns.map(({ name, index }, place) => [name, line.slice(index, columns[place + 1]?.index).trim()]),
    ),
  );
}
