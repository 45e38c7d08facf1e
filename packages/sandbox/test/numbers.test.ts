/** A number that a page shows as a link is found again where the link leads. */
import { expect, test } from 'vitest';
import { collection, payout } from './support/api.ts';
import { open, textOf, unescaped } from './support/pages.ts';
import { until, useStage } from './support/stage.ts';

const stage = useStage({ retry: { max_attempts: 2, backoff_ms: 0 } });
const MAX_PAGES = 20;

/** A sandbox with more than one page of everything, in every state. */
async function fill(): Promise<void> {
  stage.merchant.answer = (response, { data }) => {
    const [, status = '200'] = /-(\d{3})$/.exec(data.payload.merchant_reference) ?? [];
    response.writeHead(Number(status), { 'content-type': status === '201' ? 'text/html' : 'text/plain' });
    response.end(status === '201' ? '<!doctype html>' : '');
  };
  for (let index = 0; index < 30; index += 1) {
    stage.collect({
      merchant_reference: `ORD-${index}-500`,
      misbehave: { duplicate: index % 3 === 0 ? 1 : 0 },
    });
    stage.collect({ merchant_reference: `ORD-${index}-200` });
    if (index % 4 === 0) stage.collect({ merchant_reference: `ORD-${index}-404` });
    if (index % 5 === 0) stage.collect({ merchant_reference: `ORD-${index}-201` });
    if (index % 6 === 0) stage.collect({ merchant_reference: `P-${index}`, mode: 'pending' });
    if (index % 7 === 0)
      stage.collect({ merchant_reference: `W-${index}`, misbehave: { late_ms: 3_600_000 } });
    if (index % 8 === 0) stage.collect({ merchant_reference: `F-${index}`, outcome: 'failed' });
    if (index % 9 === 0)
      stage.collect({ merchant_reference: `S-${index}-401`, misbehave: { bad_signature: true } });
    if (index % 10 === 0) await stage.call('POST', '/sandbox/collections', { ...collection, amount: 0 });
    await stage.call('GET', '/data/wallet-balances');
  }
  await sent();
  stage.sandbox.deposit({ currency: 'KES', amount: 12.5 });
  stage.sandbox.transfer({ currency: 'UGX', amount: 2000 });
  stage.sandbox.payout(payout);
  // What is sent again fails again: a transaction has more failed deliveries than rows.
  const [failed] = stage.sandbox.deliveries().filter(({ state }) => state === 'given_up');
  for (const _ of [1, 2]) stage.sandbox.compose(failed?.id ?? 0, { signature: 'keep' });
  await sent();
}

/** Until only the late ones wait. */
const sent = (): Promise<void> =>
  until(() =>
    stage.sandbox.deliveries().every(({ state, body }) => state !== 'scheduled' || body.includes('"W-')),
  );

const show = async (path: string): Promise<string> => {
  const { status, text } = await open(stage.sandbox, path);
  expect([path, status]).toEqual([path, 200]);
  return text;
};

/** The number of rows of the last list of a page, on all of its pages. Balances are not rows that a page counts. */
async function listed(path: string): Promise<number> {
  let found = 0;
  for (let next: string | undefined = path, pages = 0; next !== undefined; pages += 1) {
    if (pages > MAX_PAGES) throw new Error(`${path} has more pages than expected.`);
    const text = await show(next);
    const list = [...text.matchAll(/<table class="list" id="((?!wallets-)[^"]+)".*?<\/table>/gs)].at(-1);
    found += [...(list?.[0] ?? '').matchAll(new RegExp(`<tr id="${list?.[1]}-[^"]*(?<!-below)">`, 'g'))]
      .length;
    const older = /<a class="button" href="([^"]+)">Older<\/a>/.exec(text)?.[1];
    next = older === undefined ? undefined : unescaped(older);
  }
  return found;
}

interface Link {
  readonly href: string;
  readonly words: string;
}

/** The links of a page with a number that counts: not that of a thing, such as "Delivery 5", and not in the JSON of a body. */
function countingLinks(text: string): Link[] {
  const main = text
    .slice(text.indexOf('<header'), text.indexOf('</main>'))
    .replaceAll(/<table.*?<\/table>/gs, (table) => (table.includes('id="causes"') ? table : ''));
  return [...main.matchAll(/<a [^>]*href="(\/[^"]*)"[^>]*>(.*?)<\/a>/gs)]
    .map(([, href = '', words = '']) => ({ href: unescaped(href), words: textOf(words) }))
    .filter(
      ({ words, href }) =>
        /(?<![\w.-])\d/.test(words) && !/^\/(transactions|deliveries|compose)\/(?:\d|compare)/.test(href),
    );
}

const PATHS = [
  '/',
  '/transactions',
  '/transactions?q=ORD-1',
  '/deliveries',
  '/deliveries?q=500',
  '/deliveries/failures',
];
const OTHERS = [
  '/requests',
  '/wallets',
  '/wallets/UGX',
  '/providers',
  '/check',
  '/explain',
  '/start',
  '/settings',
];

test('every number that a link of a page has is the number of rows where it leads', async () => {
  await fill();
  const wrong: string[] = [];
  const checked = new Set<string>();
  for (const path of [...PATHS, ...OTHERS, '/settings/reset', '/transactions/1001', '/deliveries/1']) {
    for (const { href, words } of countingLinks(await show(path))) {
      checked.add(words);
      const number = Number(/(?<![\w.-])\d[\d,]*/.exec(words)?.[0].replaceAll(',', ''));
      const rows = await listed(href);
      if (rows !== number) wrong.push(`${path}: "${words}" leads to ${rows} rows at ${href}`);
    }
  }
  expect(wrong).toEqual([]);
  // Each kind of number was there.
  const kinds =
    /^(Why \d+ failed|Transactions|Pending|Delivered|Waiting|Needs attention|Refused|UGX entries|All)/;
  const found = new Set([...checked].map((words) => kinds.exec(words)?.[1]?.replace(/\d+/, 'N')));
  for (const kind of [
    'Why N failed',
    'Transactions',
    'Pending',
    'Delivered',
    'Waiting',
    'Needs attention',
    'Refused',
    'UGX entries',
    'All',
  ])
    expect(found).toContain(kind);
});

test('the numbers of the overview, of the groups and of what a button sends again agree', async () => {
  await fill();
  const overview = await show('/');
  const [, failed] = /(\d+) of \d+ deliveries failed/.exec(textOf(overview)) ?? [];
  const page = await show('/deliveries/failures');
  expect(textOf(/<h1>.*?<\/h1>/.exec(page)?.[0] ?? '')).toBe(`${failed} deliveries failed`);
  const counts = [...page.matchAll(/data-label="Failed"><a[^>]*>(\d+)/g)].map(([, number]) => Number(number));
  expect(counts.length).toBeGreaterThan(2);
  expect(counts.reduce((sum, number) => sum + number, 0)).toBe(Number(failed));
  const again = [...page.matchAll(/Send (all )?(\d+) again/g)].map(([, all, number]) => [
    all,
    Number(number),
  ]);
  const [[, total] = [], ...groups] = again;
  expect(groups.reduce((sum, [, number]) => sum + Number(number), 0)).toBe(total);
});

test.each([
  ...PATHS,
  ...OTHERS,
  '/transactions?q=none',
  '/deliveries?q=none',
  '/requests?q=none',
  '/deliveries/failures?cause=none',
])('an empty list at %s says what there is none of, and what to do', async (path) => {
  const text = await show(path);
  const main = text.slice(text.indexOf('<main'), text.indexOf('</main>'));
  expect(textOf(main)).not.toMatch(/\b(?:None yet|Nothing matches|Nothing\.)/);
  for (const [, none = ''] of main.matchAll(/<p class="quiet">(No .*?)<\/p>/gs)) {
    expect(none).toMatch(/^No \w+/);
    expect(textOf(none).split(/[.] /).length).toBeGreaterThan(1);
  }
});
