import { parse } from 'csv-parse/sync';
import { PAYMENT_STATES } from '../../src/verdict/payment-state.ts';
import {
  BASE,
  pageOf,
  rowsIn,
  type Shown,
  textOf,
  unescaped,
  type Visitor,
  visit,
} from '../support/console.ts';
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
} from './said.ts';

/** The lists of the console: everything in pages of one, each state, and the file to download. */
export const CONSOLE_LISTS: Readonly<Record<'pages' | 'states' | 'file', Face>> = {
  async pages({ inbox }) {
    const ofOne = { ...inbox, payments: (filter = {}) => inbox.payments({ limit: 1, ...filter }) };
    return pages(visit(ofOne), '/payments?state=all');
  },
  async states({ inbox }) {
    const found = new Map<string, Said>();
    for (const state of PAYMENT_STATES)
      for (const [name, said] of await pages(visit(inbox), `/payments?state=${state}`)) {
        addTo(found, name, said);
        if (!said.startsWith(state)) throw new Error(`The page of ${state} has ${name}: ${said}.`);
      }
    return found;
  },
  async file({ inbox }) {
    const found = new Map<string, Said>();
    const { html } = await open(visit(inbox), '/payments.csv');
    const rows: Record<string, string>[] = parse(html, { columns: true });
    for (const { state = '', needs = '', ...row } of rows) {
      const [credited, expected] = [row['credited_amount'], row['expected_amount']];
      const money = credited
        ? `settled ${row['credited_currency']} ${credited}`
        : `expects ${row['expected_currency']} ${expected}`;
      const about = credited || expected ? money : 'nothing';
      const name = `${row['merchant_reference']} ${row['transaction_type']}`;
      addTo(found, name, `${state}${needs && `, ${needs}`}: ${about}`);
    }
    return found;
  },
};

const overviews = new WeakMap<Looked, Promise<Shown>>();
/** The overview, which several faces are a part of, is opened once. */
async function overviewOf(looked: Looked): Promise<string> {
  const opened = overviews.get(looked) ?? open(visit(looked.inbox), '');
  overviews.set(looked, opened);
  return (await opened).html;
}

/** The overview's lists: what needs a person, and what is overdue. */
export const OVERVIEW_LISTS: Readonly<Record<'needed' | 'overdue', Face>> = {
  needed: async (looked) => listIn(await overviewOf(looked), 'needed-payments'),
  overdue: async (looked) => listIn(await overviewOf(looked), 'overdue-payments'),
};

/** The page of each payment: its badge, its facts and its sentence, which must say the same. */
export const paymentPages: Face = async ({ inbox, keys }) => {
  const found = new Map<string, Said>();
  const visitor = visit(inbox);
  for (const key of keys) {
    const { status, html } = await visitor.get(pageOf(key.merchant_reference, key.transaction_type));
    if (status === 404) continue;
    const [, heading = '', sentence = ''] =
      /id="answer"><div class="note \w+"><strong>(.*?)<\/strong><div>(.*?)<\/div>/s.exec(html) ?? [];
    const said = saidInSentence(textOf(heading), textOf(sentence));
    const [, badge = ''] = /<\/h1><span class="state \w+">(.*?)<\/span>/.exec(html) ?? [];
    const fact = (name: string): string =>
      textOf(new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`, 's').exec(html)?.[1] ?? '');
    const money = fact('Credited') || fact('Expected');
    const [, needs = ''] = /^\w+, (.*): /.exec(said) ?? [];
    const facts = saidInWords(
      textOf(badge),
      needs,
      money === 'nothing' ? '' : money,
      fact('Credited') !== '',
    );
    if (facts !== said) throw new Error(`The page of ${nameOf(key)} says [${facts}] and [${said}].`);
    found.set(nameOf(key), said);
  }
  return found;
};

/** The counts of the console's lists; those of the states that no payment has are left out. */
export async function countsOfLists({ inbox }: Looked): Promise<Numbers> {
  const { html } = await open(visit(inbox), '/payments');
  const chips = html.matchAll(
    /<a class="button" href="[^"]*\?state=(\w+)"[^>]*>[\w ]+ <span class="number">(\d+)</g,
  );
  return Object.fromEntries([...chips].map(([, state, count]) => [state, Number(count)]));
}

/** The numbers at the top of the overview. */
export async function tilesOfOverview(looked: Looked): Promise<Numbers> {
  const html = await overviewOf(looked);
  const tiles = html.matchAll(/<a class="tile [^"]*" href="[^"]*\?state=(\w+)"><strong>(\d+)</g);
  return Object.fromEntries([...tiles].map(([, state, count]) => [state, Number(count)]));
}

/** What was credited, by currency and type, on the page of money. */
export async function totalsOfMoney({ inbox }: Looked): Promise<Numbers> {
  const all: Record<string, number> = {};
  const { html } = await open(visit(inbox), '/money');
  for (const { Type: type, Credited: credited = '' } of rowsIn(html, 'days')) {
    const [currency, amount = ''] = textOf(credited).split(' ');
    const name = `${currency} ${type}`;
    all[name] = (all[name] ?? 0) + Number(amount.replaceAll(',', ''));
  }
  return all;
}

/** What the chart of outcomes counts, by its words. */
export async function outcomesOfChart(looked: Looked): Promise<Numbers> {
  const html = await overviewOf(looked);
  const { From: _, ...sums } = rowsIn(html, 'outcomes-figures').at(-1) ?? {};
  return Object.fromEntries(Object.entries(sums).map(([word, count]) => [word, Number(count)]));
}

/** What the charts of money draw, by their words and types. */
export async function moneyOfChart(looked: Looked): Promise<Numbers> {
  const html = await overviewOf(looked);
  const all: Record<string, number> = {};
  for (const [, chart = ''] of html.matchAll(/<figure class="chart card" id="money-(.*?)<\/figure>/gs)) {
    const [, type] = /a day of the type (\w+),/.exec(chart) ?? [];
    for (const [, bar = ''] of chart.matchAll(/<title>[^.]*\. (.*?)<\/title>/g))
      for (const [, word = '', amount = ''] of bar.matchAll(/([A-Z][a-z ]+): UGX ([\d.,]*\d)/g)) {
        const name = `${word}, ${type}`;
        all[name] = (all[name] ?? 0) + Number(amount.replaceAll(',', ''));
      }
  }
  return all;
}

async function open(visitor: Visitor, path: string): Promise<Shown> {
  const shown = await visitor.get(path);
  if (shown.status !== 200) throw new Error(`The page ${path} has the status ${shown.status}.`);
  return shown;
}

/** A list from its first page to its last, each with the sums of the whole list. */
async function pages(visitor: Visitor, first: string): Promise<Map<string, Said>> {
  const found = new Map<string, Said>();
  const shown: string[] = [];
  for (let path = first; ; ) {
    const { html } = await open(visitor, path);
    const page = listIn(html, 'payments');
    for (const [name, said] of page) addTo(found, name, said);
    if (page.size > 0) shown.push(sumsIn(html));
    const [, older] = /href="([^"]*)">Older</.exec(html) ?? [];
    if (older === undefined) break;
    path = unescaped(older).slice(BASE.length);
  }
  for (const sums of shown) mustBeSums(sums, found);
  return found;
}

/** `COLLECTION UGX 1200 500` for each row of the sums of a list. */
function sumsIn(html: string): string {
  const rows = rowsIn(html, 'list-sums').flatMap(
    ({ Type: type, Expected: expected = '', Credited: credited = '' }) => {
      const [currency, amount] = textOf(expected).split(' ');
      return amount === undefined ? [] : [[type, currency, amount, textOf(credited).split(' ')[1]]];
    },
  );
  return rows
    .map((row) => row.join(' ').replaceAll(',', ''))
    .toSorted()
    .join();
}

/** The payments of a table of a page. */
function listIn(html: string, id: string): Map<string, Said> {
  const found = new Map<string, Said>();
  for (const { Reference: link = '', State: state = '', ...row } of rowsIn(html, id)) {
    const [, query = ''] = /\/payment\?([^"]*)"/.exec(link) ?? [];
    const { reference = '', type = '' } = Object.fromEntries(new URLSearchParams(unescaped(query)));
    const [credited, expected] = [row['Credited'], row['Expected']].map((cell = '') => textOf(cell).trim());
    const needs = textOf(row['What it needs'] ?? '').replace(/^Was due .*/, '');
    addTo(
      found,
      `${reference} ${type}`,
      saidInWords(textOf(state), needs, credited || expected || '', credited !== ''),
    );
  }
  return found;
}
