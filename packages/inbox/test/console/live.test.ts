import { expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { newConsoleShop, visit } from '../support/console.ts';
import { NOTE, seen } from '../support/shop.ts';

test('an open page is answered with 304 until the inbox changes, and with the new page then, and while its visitor has access', async () => {
  const { inbox } = await newConsoleShop();
  let isAllowed = true;
  const visitor = visit(inbox, () => isAllowed && { by: 'dana', may: ['read'] });
  const versionOf = (html: string): string => /data-version="([0-9a-f]{16})"/.exec(html)?.[1] ?? '';
  const follow = (version: string) => visitor.get('/overdue', { 'if-none-match': `"${version}"` });
  let version = versionOf((await visitor.get('/overdue')).html);
  const { transitionId } = paid('NONE', 500);
  for (const change of [
    () => inbox.receive(paid('NONE', 500)),
    () => inbox.receive(paid('LATER', 500)),
    async () => inbox.resolve(await seen(inbox, transitionId), NOTE),
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
