import { expect, onTestFinished, test } from 'vitest';
import { type ConsoleAccess, inboxConsole } from '../../src/console/index.ts';
import type { Inbox } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { newConsoleShop, ORIGIN } from '../support/console.ts';
import { NOTE } from '../support/shop.ts';

/** A console whose streams of changes end with the test. */
function openStreams<Tx>(inbox: Inbox<Tx>) {
  const handle = inboxConsole(inbox, { authorize: () => ({ by: 'dana', may: ['read'] }) });
  const ask = (path: string, headers = {}): Promise<Response> =>
    handle(new Request(ORIGIN + path, { headers }));
  const follow = async () => {
    const reader = (await ask('/events')).body?.getReader();
    onTestFinished(() => reader?.cancel());
    const next = async (): Promise<string | undefined> => {
      const { value } = (await reader?.read()) ?? {};
      return value && Buffer.from(value).toString();
    };
    return { next, leave: () => reader?.cancel() };
  };
  return { ask, follow };
}

test('every open page is notified of the version that pages have after a change', async () => {
  const { inbox } = await newConsoleShop();
  const { ask, follow } = openStreams(inbox);
  const event = async (): Promise<string> => {
    const [, version] = /data-version="([0-9a-f]{16})"/.exec(await (await ask('/')).text()) ?? [];
    return `data: ${version}\n\n`;
  };
  const [first, second] = [await follow(), await follow()];
  const seen = [await event()];
  for (const page of [first, second]) expect(await page.next()).toBe(seen[0]);
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
  for (const page of [first, second]) {
    let told = await page.next();
    // A poll may have been made between two changes.
    while (told !== seen.at(-1) && seen.includes(String(told))) told = await page.next();
    expect(told).toBe(seen.at(-1));
  }
  await inbox.close();
  expect(await first.next()).toBeUndefined();
});

test('a visitor whose access ends while a page is open is told of nothing more', async () => {
  const { inbox } = await newConsoleShop();
  let access: ConsoleAccess | undefined = { by: 'dana', may: ['read'] };
  let asked = 0;
  const handle = inboxConsole(inbox, {
    authorize: () => {
      asked += 1;
      return access;
    },
  });
  const follow = async () => {
    const reader = (await handle(new Request(`${ORIGIN}/events`))).body?.getReader();
    onTestFinished(() => reader?.cancel());
    await reader?.read();
    return reader;
  };
  const [first, second] = [await follow(), await follow()];
  expect(asked).toBe(2);
  await inbox.receive(paid('NONE', 500));
  // Control: with access, both are told, after they were asked for again.
  for (const page of [first, second]) expect(await page?.read()).toMatchObject({ done: false });
  expect(asked).toBe(4);
  for (const lost of [undefined, { by: 'dana', may: [] }]) {
    access = lost;
    await inbox.receive(paid(`LATER-${asked}`, 500));
    for (const page of [first, second]) expect(await page?.read()).toMatchObject({ done: true });
  }
});

test('at most 100 pages are notified of changes, and one that is left makes room', async () => {
  const { inbox } = await newConsoleShop();
  const { ask, follow } = openStreams(inbox);
  const first = await follow();
  await Promise.all(Array.from({ length: 99 }, follow));
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
