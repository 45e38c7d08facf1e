import { setTimeout as wait } from 'node:timers/promises';
import type { ManagedProcess } from './managed-process.ts';
import { withInbox } from './merchant.ts';
import type { TestDatabase } from './test-database.ts';

const NOTE = { by: 'crash-test', note: 'the process was killed, the handler is sound' };

/**
 * After the last kill: waits until every spool is drained and every transition has found its place, and does what a
 * person would do with transitions that no handler survived.
 *
 * @param watch throws when nothing moves any more.
 * @returns how many of those there were.
 */
export async function drain(
  test: TestDatabase,
  receivers: readonly ManagedProcess[],
  watch: (state: string) => void,
): Promise<number> {
  let sentBack = 0;
  await withInbox(test.database, {}, async (inbox) => {
    for (;;) {
      const looped = await inbox.retry({ state: 'quarantined', reason: 'crash_loop' }, NOTE);
      sentBack += looped;
      const spooled = await Promise.all(receivers.map(spooledBy));
      const open = await test.open();
      if (looped === 0 && open === 0 && spooled.every((count) => count === 0)) break;
      watch(`${open} open, ${spooled} spooled, ${looped} sent back`);
      await wait(100);
    }
    await inbox.close();
  });
  return sentBack;
}

async function spooledBy({ address }: ManagedProcess): Promise<number | undefined> {
  if (address === undefined) return undefined;
  const response = await fetch(`${address}/spooled`).catch(() => undefined);
  return response?.status === 200 ? Number(await response.text()) : undefined;
}
