import { expect, test } from 'vitest';
import { BASE, rowsIn, textOf, unescaped, type Visitor, visit } from '../support/console.ts';
import { newVariedShop } from '../support/varied.ts';

/** What is shown together with a link: a tile, a row, a filter, or the heading and the text of a folded list. */
const TOGETHER = [
  /<a class="tile .*?<\/a>/gs,
  /<tr id=.*?<\/tr>/gs,
  /<li><a class="button".*?<\/li>/gs,
  /<details class="card stack".*?<\/p>/gs,
  /<a class="button" href="[^"]*\/acts.*?<\/a>/gs,
];
const MONEY = /[A-Z]{3} \d(?:[\d,]*\d)?(?:\.\d+)?/g;
/** A count of payments, which is not a part of an amount, a reference or a time. */
const COUNT = /(?<![\w.,-] ?|[A-Z]{3} )\b\d[\d,]*\b(?![-.:/]|[\w,]*\d)/g;

/** Each number beside a link, such as `UGX 500` or `12 payments`, with the address where the link leads. */
function numbersBeside(html: string): (readonly [number: string, to: string])[] {
  const [, main = ''] = /<main(.*)<\/main>/s.exec(html) ?? [];
  const groups = TOGETHER.flatMap((pattern) => main.match(pattern) ?? []);
  return groups.flatMap((group) => {
    const [, href = ''] = /<a [^>]*?href="([^"]*)"(?![^>]*aria-current)/.exec(group) ?? [];
    if (href === '' || href.endsWith('.csv')) return [];
    const isRow = group.startsWith('<tr');
    const text = textOf(group.replaceAll(/<time.*?<\/time>/gs, ''));
    const counts = isRow ? [] : (text.replaceAll(MONEY, '').match(COUNT) ?? []);
    // An empty list says so in words.
    const named = counts.map((count) => (count === '0' ? 'No payment' : `${count} payment`));
    return [...(text.match(MONEY) ?? []), ...named].map((number) => [number, unescaped(href)] as const);
  });
}

/** What a page shows of payments: its text, and how many there are and their sums over all types, by day on the page of money. */
async function textAt(visitor: Visitor, path: string): Promise<string> {
  const { status, html, text } = await visitor.get(path.slice(BASE.length));
  expect(status, path).toBe(200);
  const days = Map.groupBy(rowsIn(html, 'days'), ({ Day: day }) => day);
  const ofDays = [...days.values()].map((rows) =>
    rows.reduce((sum, row) => sum + Number(row['Payments']), 0),
  );
  return [text, ...ofDays.map((count) => `${count} payments`)].join(' ');
}

const withoutZeros = (text: string): string =>
  text.replaceAll(/(\.\d*?)0+\b/g, '$1').replaceAll(/\.(?!\d)/g, '');

test.each([40, 150])(
  'every number beside a link is on the page to which it leads, in an inbox of %d payments',
  { timeout: 120_000 },
  async (count) => {
    const { inbox } = await newVariedShop(count, count);
    const visitor = visit(inbox);
    const pages = new Map<string, Promise<string>>();
    const wrong: string[] = [];
    let compared = 0;
    const { items } = await inbox.payments({ needed: true });
    const reasons = new Set(items.flatMap(({ needs }) => needs ?? []));
    const paths = [
      '',
      '/payments',
      '/payments?state=all',
      ...[...reasons].map((one) => `/payments?reason=${one}`),
    ];
    for (const path of paths)
      for (const [number, to] of numbersBeside((await visitor.get(path)).html)) {
        if (!pages.has(to)) pages.set(to, textAt(visitor, to));
        const text = withoutZeros((await pages.get(to)) ?? '');
        const isFound = new RegExp(`(?<![\\d,.])${withoutZeros(number)}(?![\\d]|,\\d)`).test(text);
        if (!isFound) wrong.push(`${path} says ${number}, and ${to} does not`);
        compared += 1;
      }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(count);
  },
);

test('control: a number that its page does not have is found, also where a longer one contains it', () => {
  const tile =
    '<main><a class="tile bad" href="/admin/payments/payments"><strong>12</strong> held: UGX 5,000</a></main>';
  expect(numbersBeside(tile)).toEqual([
    ['UGX 5,000', '/admin/payments/payments'],
    ['12 payment', '/admin/payments/payments'],
  ]);
  const isFound = (number: string, text: string) =>
    new RegExp(`(?<![\\d,.])${number}(?![\\d]|,\\d)`).test(text);
  expect(isFound('12 payment', '112 payments')).toBe(false);
  expect(isFound('UGX 5,000', 'UGX 5,000,000')).toBe(false);
});
