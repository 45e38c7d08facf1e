import { expect, onTestFinished, test } from 'vitest';
import { type ConsoleAccess, type ConsoleOptions, inboxConsole } from '../../src/console/index.ts';
import type { Inbox } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { newConsoleShop, ORIGIN } from '../support/console.ts';
import { NOTE } from '../support/shop.ts';

const DANA: ConsoleAccess = { by: 'dana', may: ['read'] };

/** A console whose streams of changes end with the test. */
function openStreams<Tx>(inbox: Inbox<Tx>, authorize: ConsoleOptions['authorize'] = () => DANA) {
  const handle = inboxConsole(inbox, { authorize });
  const ask = (path: string, headers = {}): Promise<Response> =>
    handle(new Request(ORIGIN + path, { headers }));
  const follow = async (user = 0) => {
    const reader = (await ask('/events', { user: String(user) })).body?.getReader();
    onTestFinished(() => reader?.cancel());
    const next = async (): Promise<string | undefined> => {
      const { value } = (await reader?.read()) ?? {};
      return value && Buffer.from(value).toString();
    };
    return { next, leave: () => reader?.cancel() };
  };
  return { ask, follow };
}

test('every open page is notified of the version that pages have after a change, until its visitor loses access or the inbox is closed', async () => {
  const { inbox } = await newConsoleShop();
  const access: (ConsoleAccess | undefined)[] = [DANA, DANA, DANA];
  let asked = 0;
  const { ask, follow } = openStreams(inbox, ({ headers }) => {
    asked += headers.has('user') ? 1 : 0;
    return access[Number(headers.get('user'))];
  });
  const event = async (): Promise<string> => {
    const [, version] = /data-version="([0-9a-f]{16})"/.exec(await (await ask('/')).text()) ?? [];
    return `data: ${version}\n\n`;
  };
  const pages = await Promise.all([0, 1, 2].map(follow));
  const seen = [await event()];
  for (const page of pages) expect(await page.next()).toBe(seen[0]);
  expect(asked).toBe(3);
  const { transitionId } = paid('NONE', 500);
  for (const change of [
    () => inbox.receive(paid('NONE', 500)),
    () => inbox.receive(paid('LATER', 500)),
    () => inbox.resolve(transitionId, NOTE),
  ]) {
    await change();
    const now = await event();
    expect(seen).not.toContain(now);
    seen.push(now);
  }
  for (const page of pages) {
    let told = await page.next();
    // A poll may have been made between two changes.
    while (told !== seen.at(-1) && seen.includes(String(told))) told = await page.next();
    expect(told).toBe(seen.at(-1));
  }
  // Before each message, its visitor was asked for again.
  expect(asked).toBeGreaterThanOrEqual(6);
  access.splice(1, 2, undefined, { by: 'dana', may: [] });
  await inbox.receive(paid('LAST', 500));
  const last = await Promise.all(pages.map((page) => page.next()));
  expect(last).toEqual([await event(), undefined, undefined]);
  await inbox.close();
  expect(await pages[0]?.next()).toBeUndefined();
});

test('at most 100 pages are notified of changes, and one that is left makes room', async () => {
  const { inbox } = await newConsoleShop();
  const { ask, follow } = openStreams(inbox);
  const first = await follow();
  await Promise.all(Array.from({ length: 99 }, () => follow()));
  const refused = await ask('/events');
  expect(refused.status).toBe(503);
  expect(await refused.text()).toBe('Too many pages are open.\n');
  await first.leave();
  expect((await ask('/events')).headers.get('content-type')).toBe('text/event-stream');
});

test('a stream is only for a page that the browser calls same-origin', async () => {
  const { inbox } = await newConsoleShop();
  for (const site of ['cross-site', 'same-site', 'same-origin']) {
    const { status, headers } = await openStreams(inbox).ask('/events', { 'sec-fetch-site': site });
    expect(status).toBe(site === 'same-origin' ? 200 : 403);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});
