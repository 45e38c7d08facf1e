import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type InboxEvent, sqlite } from '../src/index.ts';
import { callbackRecord } from '../src/intake-record.ts';
import { checkOptions } from '../src/settings.ts';
import { Spool } from '../src/spool.ts';
import { paid } from './support/callbacks.ts';
import { leaveInSpool } from './support/leave-in-spool.ts';
import { ENGINES, newMerchant } from './support/merchant.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { until } from './support/until.ts';

describe.each(ENGINES)('a row of the spool that cannot be handed over, on %s', (engine) => {
  it.each([
    ['the store refuses it', "json_set(record, '$.receivedAt', 'x')"],
    ['it cannot be read', "'{'"],
  ])('holds back no other, and stays: %s', async (_why, spoiled) => {
    const merchant = await newMerchant(engine);
    const spool = join(temporaryFolder(), 'spool.db');
    await leaveInSpool(
      merchant,
      { spool },
      ['A', 'B', 'C'].map((reference) => paid(reference, 500)),
    );
    const file = new DatabaseSync(spool, { timeout: 10_000 });
    onTestFinished(() => file.close());
    const first = file.prepare('select id, record from payment_inbox_spool order by rowid').get() ?? {};
    const { id = '', record = '' } = first;
    file.prepare(`update payment_inbox_spool set record = ${spoiled} where id = ?`).run(id);
    const inbox = merchant.open({ spool });
    await inbox.ready();
    const listed = async (): Promise<string[]> =>
      (await inbox.list()).map(({ signed }) => signed.merchant_reference).sort();
    await until(async () => (await listed()).length === 2);
    expect(await listed()).toEqual(['B', 'C']);
    await until(async () => (await inbox.stats()).spooled === 1);
    expect(await inbox.health()).toMatchObject({ ok: false, problems: ['spool_not_drained'] });
    file.prepare('update payment_inbox_spool set record = ? where id = ?').run(record, id);
    await until(async () => (await inbox.stats()).spooled === 0);
    expect(await listed()).toEqual(['A', 'B', 'C']);
  });
});

it('a delivery that the store answers with "full" stays in the spool, behind the others', async () => {
  const folder = temporaryFolder();
  const events: InboxEvent[] = [];
  const kept: string[] = [];
  let isFull = true;
  const spool = new Spool({
    path: join(folder, 'spool.db'),
    owner: 'A',
    settings: checkOptions({ store: sqlite(join(folder, 'x.db')), random: () => 1 }),
    store: async ({ digest }) => {
      if (digest === first.digest && isFull) return 'full';
      kept.push(digest);
      return 'new';
    },
    emit: (event) => events.push(event),
  });
  onTestFinished(() => spool.close());
  const [first, second] = [record('A'), record('B')];
  expect(await spool.keepInstead(first)).toBe(true);
  expect(await spool.keepInstead(second)).toBe(true);
  await until(() => events.length > 0);
  expect(events[0]).toMatchObject({ name: 'store.unavailable', failure: 'UnavailableError' });
  await until(async () => (await spool.count()) === 1);
  // The store is there: what comes now goes to it at once.
  await until(() => !spool.isStoreAway);
  isFull = false;
  await until(async () => (await spool.count()) === 0);
  expect(new Set(kept)).toEqual(new Set([first.digest, second.digest]));
});

it('a spool file with a table of another shape is refused and keeps what it has, and the store goes on', async () => {
  const folder = temporaryFolder();
  const file = new DatabaseSync(join(folder, 'spool.db'));
  onTestFinished(() => file.close());
  file.exec(`create table payment_inbox_spool (id text not null, record text not null, body text not null) strict;
    insert into payment_inbox_spool values ('1', '{}', '{}')`);
  const merchant = await newMerchant('sqlite');
  const inbox = merchant.open({ spool: join(folder, 'spool.db') });
  await expect(inbox.ready()).rejects.toThrow(/no such column: owner/);
  await inbox.receive(paid('A', 500));
  expect(await inbox.list()).toMatchObject([{ state: 'pending' }]);
  expect(await inbox.health()).toMatchObject({
    ok: false,
    problems: ['spool_unavailable'],
    spooled: undefined,
  });
  await until(() => merchant.events.some(({ name }) => name === 'spool.failed'));
  expect(file.prepare('select * from payment_inbox_spool').all()).toHaveLength(1);
});

function record(reference: string): ReturnType<typeof callbackRecord> {
  return callbackRecord(paid(reference, 500), '', 0);
}
