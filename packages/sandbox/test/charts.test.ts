import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { printSummary } from '../src/command/print.ts';
import { createManualClock } from './support/manual-clock.ts';
import { part, textOf } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage();

/** The title of a chart, its drawing without the pattern, and its figures, row by row. */
async function chart(path: string, id: string) {
  const figure = part(await stage.show(path), id, 'figure');
  const [, drawing = ''] = /<\/defs>(.*?)<\/svg>/s.exec(figure) ?? [];
  const cells = (row: string): string[] => [...row.matchAll(/<td.*?<\/td>/gs)].map(([cell]) => textOf(cell));
  return {
    title: textOf(/<h3>.*?<\/h3>/s.exec(figure)?.[0] ?? ''),
    drawing,
    rows: [...figure.matchAll(/<tr>.*?<\/tr>/gs)].slice(1).map(([row]) => cells(row)),
  };
}

/** 36 deliveries that arrive in half an hour, then 4 minutes in which half of them fail. */
async function openFailing(): Promise<void> {
  const clock = createManualClock(Date.UTC(2026, 0, 2, 14));
  stage.open({ clock, retry: { preset: 'none' } });
  for (let index = 0; index < 40; index += 1) {
    clock.move(index < 30 ? 60_000 : 24_000);
    stage.answer(index >= 30 && index % 2 === 0 ? 500 : 200);
    await stage.deliver();
  }
}

test('deliveries are counted by outcome with the moment since which they fail, and so are response times', async () => {
  await openFailing();
  const outcomes = await chart('/', 'outcomes');
  expect(outcomes.title).toBe('5 of 40 deliveries failed, all since 14:30');
  expect(outcomes.rows.at(-1)).toEqual(['All', '35', '0', '5']);
  expect(outcomes.rows.at(-2)).toEqual(['2026-01-02 14:30:00 UTC', '6', '0', '5']);
  expect(outcomes.drawing.match(/class="mark bad"/g)).toHaveLength(1);
  const { title, drawing, rows } = await chart('/', 'response-times');
  const [endpoint, attempts, failed, half, slowest] = rows.at(-1) ?? [];
  expect([endpoint, attempts, failed]).toEqual([stage.merchant.url, '40', '5']);
  expect(title).toBe(`Half of 40 attempts within ${half}, slowest ${slowest}`);
  expect(rows.at(-2)?.slice(0, 3)).toEqual(['2026-01-02 14:30:00 UTC', '11', '5']);
  const times = stage.sandbox.deliveries().map(({ attempts }) => attempts[0]?.ms ?? 0);
  expect(slowest).toBe(`${Math.max(...times)} ms`);
  // Each point of a drawing is a row of its figures, but for that of the endpoint.
  expect(drawing.match(/<circle /g)).toHaveLength(2 * (rows.length - 1));
  expect(drawing).toContain('no answer after 10 s');
});

test('without a failure, and without a delivery, no mark says that one failed', async () => {
  stage.open();
  expect(await stage.show('/')).not.toContain('class="chart card');
  await stage.deliver();
  const { title, drawing } = await chart('/', 'outcomes');
  expect(title).toBe('1 delivery, none failed');
  expect(drawing).not.toContain('mark bad');
});

test('the balances of a wallet are those of its entries after every change', async () => {
  const clock = createManualClock();
  stage.open({ clock });
  stage.collect({ provider_code: 'example_card_ugx', amount: 10_000 });
  clock.move(60_000);
  stage.sandbox.deposit({ currency: 'UGX', amount: 2000 });
  clock.move(60_000);
  stage.sandbox.transfer({ currency: 'UGX', amount: 500 });
  const path = '/wallets/UGX';
  const collections = await chart(path, 'balances-UGX-MERCHANT_COLLECTION');
  expect(collections.title).toBe('UGX 11,150 in the collection wallet, UGX 1,500 of it available');
  expect(collections.rows.map(([, ...amounts]) => amounts.join(' '))).toEqual([
    'UGX 0 UGX 8,685 UGX 965 UGX 9,650',
    'UGX 2,000 UGX 8,685 UGX 965 UGX 11,650',
    'UGX 1,500 UGX 8,685 UGX 965 UGX 11,150',
  ]);
  expect(collections.drawing.match(/<path id="[^"]*" class="mark \w+"/g)).toHaveLength(3);
  const payouts = await chart(path, 'balances-UGX-MERCHANT_PAYOUT');
  expect(payouts.title).toBe('UGX 500 in the payout wallet, all available');
});

test('at its end the command draws the deliveries of each minute in a terminal, and nothing in a pipe', async () => {
  await openFailing();
  const printed = (isTTY: boolean): string => {
    let text = '';
    const write = (part: string): boolean => {
      text += part;
      return true;
    };
    const stream = Object.assign(Object.create(process.stdout), { isTTY, columns: 12, write });
    printSummary(stage.sandbox.deliveries(), stream);
    return stripVTControlCharacters(text);
  };
  expect(printed(true)).toBe('\n40 deliveries, 5 failed. Each minute since 14:25 UTC:\n  ▃▃▃▃▃█▆█▆▃\n');
  expect(printed(false)).toBe('');
});
