import { expect, test } from 'vitest';
import { createManualClock } from './support/manual-clock.ts';
import { part, rows, textOf, unescaped } from './support/pages.ts';
import { useStage } from './support/stage.ts';

const stage = useStage({ retry: { preset: 'none' } });
const PAGE = '/deliveries/failures';

/** Three causes at two endpoints: 500 twice, 503 once, and nothing that listens twice; one that arrives. */
async function fail(): Promise<void> {
  const GONE = 'http://127.0.0.1:9/callbacks';
  stage.merchant.answer = (response, { data }) => {
    const [, status = '200'] = /(\d{3})$/.exec(data.payload.merchant_reference) ?? [];
    response.writeHead(Number(status)).end();
  };
  for (const [merchant_reference, how] of [
    ['A-500', {}],
    ['B-500', {}],
    ['C-503', {}],
    ['D-200', { callback_url: GONE }],
    ['E-200', { callback_url: GONE }],
    ['F-200', {}],
  ] as const)
    await stage.deliver({ merchant_reference, ...how });
}

/** The groups: their cause, their number, and their address. */
async function groupsOf(path: string) {
  const table = part(await stage.show(path), 'causes', 'table');
  return [...table.matchAll(/<tr id="causes-[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) => ({
    text: textOf(row),
    count: Number(/<td class="number" data-label="Failed"><a[^>]*>(\d+)/.exec(row)?.[1]),
    href: unescaped(/data-label="Failed"><a href="([^"]*)"/.exec(row)?.[1] ?? ''),
    of: unescaped(/name="of" value="([^"]*)"/.exec(row)?.[1] ?? ''),
  }));
}

const title = async (path: string): Promise<string> =>
  textOf(/<h1>.*?<\/h1>/.exec(await stage.show(path))?.[0] ?? '');

test('failed deliveries are grouped by cause and endpoint, with numbers that add up to the chart, and lead to their lists', async () => {
  await fail();
  const chart = part(await stage.show('/'), 'outcomes', 'figure');
  expect(textOf(chart)).toContain('5 of 6 deliveries failed');
  expect(chart).toContain(`<a href="${PAGE}">Why 5 failed</a>`);
  expect(await title(PAGE)).toBe('5 deliveries failed');
  expect(rows(await stage.show(PAGE), 'failures')).toHaveLength(5);
  const groups = await groupsOf(PAGE);
  expect(groups.map(({ count }) => count)).toEqual([2, 2, 1]);
  expect(groups.map(({ text }) => text)).toEqual([
    expect.stringContaining('Your endpoint returned 500.'),
    expect.stringContaining('Nothing listens at this address.'),
    expect.stringContaining('The endpoint is unavailable.'),
  ]);
  for (const { href, count } of groups) {
    expect(rows(await stage.show(href), 'failures')).toHaveLength(count);
    expect(await stage.read(href)).toContain('All 5 that failed');
  }
});

test('what failed with one cause at one endpoint is sent again together, once, and the answer says how many', async () => {
  await fail();
  const [group] = await groupsOf(PAGE);
  const said = async (of: string): Promise<string> => {
    const { headers, location } = await stage.submit('deliveries/failures', { of }, PAGE);
    expect(location).toContain(PAGE);
    await stage.sandbox.idle();
    return decodeURIComponent(/sandbox-said=([^;]*)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '');
  };
  const before = stage.merchant.received.length;
  stage.answer(200);
  expect(await said(group?.of ?? '')).toBe('Sending 2 deliveries again.');
  const sent = stage.merchant.received.slice(before).map(({ data }) => data.payload.merchant_reference);
  expect(sent).toEqual(['A-500', 'B-500']);
  // They did fail, and are not sent a second time.
  expect(await title(PAGE)).toBe('5 deliveries failed');
  expect((await groupsOf(PAGE)).map(({ text }) => text.endsWith('Sent again'))).toEqual([true, false, false]);
  expect(await said(group?.of ?? '')).toBe('Nothing was sent: each delivery has already been sent again.');
  expect(await said('')).toBe('Sending 3 deliveries again.');
});

test('the link to what failed lately leads to exactly the deliveries that the chart counts since then', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 2, 11));
  stage.open({ clock, retry: { preset: 'none' } });
  for (let index = 0; index < 30; index += 1) {
    clock.move(300_000);
    stage.answer(index === 2 || index > 22 ? 500 : 200);
    await stage.deliver();
  }
  const chart = part(await stage.show('/'), 'outcomes', 'figure');
  const [, href = '', lately] = /<a href="([^"]*since=\d+)">why (\d+) since/.exec(chart) ?? [];
  expect(textOf(chart)).toContain(`8 of 30 deliveries failed, ${lately} of them since`);
  expect([Number(lately), rows(await stage.show(href), 'failures').length]).toEqual([7, 7]);
  expect(await stage.read(href)).toContain('All 8 that failed');
});

test('failures before a time are left out, and an unknown cause is said to match none', async () => {
  await fail();
  const since = Date.now() + 60_000;
  for (const filter of [`since=${since}`, 'cause=none', 'endpoint=http://127.0.0.1:1/'])
    expect(await stage.read(`${PAGE}?${filter}`)).toContain(
      'No delivery matches this search. All 5 that failed',
    );
  expect(await title(`${PAGE}?since=1`)).toBe('5 deliveries failed');
});

test('a sandbox without a failure says so', async () => {
  expect(await stage.read(PAGE)).toContain(
    'No delivery failed. Failures appear here, by cause and endpoint.',
  );
  expect(await stage.show('/deliveries')).not.toContain(PAGE);
});
