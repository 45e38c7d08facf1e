import { expect, onTestFinished, test } from 'vitest';
import { createInbox } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { newConsoleShop, visit } from '../support/console.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { actOn } from '../support/shop.ts';
import { watchedStore } from '../support/store.ts';

const versionOf = (html: string): string => /data-version="([0-9a-f]{16})"/.exec(html)?.[1] ?? '';

test('an open page is answered with 304 until the inbox changes, and with the new page then, and while its visitor has access', async () => {
  const { inbox } = await newConsoleShop();
  let isAllowed = true;
  const visitor = visit(inbox, () => isAllowed && { by: 'dana', may: ['read'] });
  const follow = (version: string) => visitor.get('/payments', { 'if-none-match': `"${version}"` });
  let version = versionOf((await visitor.get('/payments')).html);
  for (const change of [
    () => inbox.route.onCallback(paid('NONE', 500)),
    () => inbox.route.onCallback(paid('LATER', 500)),
    () => actOn(inbox, 'NONE', 'close'),
    () => actOn(inbox, 'LATER', 'close'),
    // It leaves a state of which another one is newer, and waits for a worker.
    () => actOn(inbox, 'NONE', 'apply'),
  ]) {
    expect(await follow(version)).toMatchObject({ status: 304, html: '' });
    await change();
    // The version of a moment ago is shared by all pages.
    await expect.poll(async () => (await follow(version)).status).toBe(200);
    const next = versionOf((await follow(version)).html);
    expect(next).not.toBe(version);
    version = next;
  }
  isAllowed = false;
  expect((await follow(version)).status).toBe(403);
});

test.each(ENGINES)('any number of open pages ask %s with one statement', async (engine) => {
  const merchant = await newMerchant(engine);
  let statements = 0;
  const store = watchedStore(merchant.newStore(), (_text, run) => {
    statements += 1;
    return run();
  });
  const inbox = createInbox({ store });
  onTestFinished(() => inbox.close());
  const version = versionOf((await visit(inbox).get('/payments')).html);
  // A new console, which has read no version yet.
  const visitor = visit(inbox);
  statements = 0;
  const headers = { 'if-none-match': `"${version}"` };
  const pages = await Promise.all(Array.from({ length: 30 }, () => visitor.get('/payments', headers)));
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([304]));
  expect(statements).toBe(1);
  // Nor does one that asks shortly after.
  expect((await visitor.get('/payments', headers)).status).toBe(304);
  expect(statements).toBe(1);
});
