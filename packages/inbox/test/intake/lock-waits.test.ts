import { join } from 'node:path';
import { UnavailableError } from '@payment-service/core';
import { describe, expect, test } from 'vitest';
import { type InboxEvent, postgres } from '../../src/index.ts';
import { callback, paid } from '../support/callbacks.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { poolShop } from '../support/pool-shop.ts';
import { watchedStore } from '../support/store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { signal, until, untilDone } from '../support/until.ts';

const HELD = 'where id = (select id from inbox.callback where transition_id = $1)';
/** What can hold a transition: an operator's query, an uncommitted expectation, and a stalled receiver. */
const HOLDERS: Record<string, string> = {
  'SELECT FOR UPDATE': `select 1 from inbox.transition ${HELD} for update`,
  'an UPDATE that is not committed': `update inbox.transition set revision = revision + 1 ${HELD}`,
  'a receiver that stopped in the middle of its transaction': `with held as (
      select id, pg_advisory_xact_lock(hashtextextended('inbox.transition ' || transition_id, 0)) from inbox.callback
      where transition_id = $1)
    insert into inbox.delivery (transition, digest, repeats, last_at)
    select b.transition, b.digest, 1, 0 from held join inbox.body b on b.transition = held.id
    on conflict (transition, digest) do update set repeats = 2`,
};

describe.each(Object.entries(HOLDERS))('threat A59: while %s holds a transition', (_, statement) => {
  test('callbacks of other references are acknowledged, and the others once it is released', async () => {
    const { inbox, schema, hold } = poolShop({ inbox: { storeTimeoutMs: 15_000 } });
    for (const reference of ['HELD', 'KNOWN']) await inbox.receive(paid(reference, 500));
    const { transitionId } = paid('HELD', 500);
    const release = await hold(statement.replaceAll('inbox.', `${schema}.`), [transitionId]);
    // In the order of a flood: first those that wait, then, in the same groups, those that must not wait.
    const held = [1, 2, 3].map((amount) => inbox.receive(paid('HELD', amount)));
    let isHeld = true;
    const all = Promise.all(held).then(() => {
      isHeld = false;
    });
    for (let round = 0; round < 3; round += 1) {
      const others = [paid('KNOWN', 500), paid('KNOWN', round), paid(`NEW-${round}`, 500)];
      await Promise.all(others.map((each) => inbox.receive(each)));
    }
    // Control: they do wait for this lock.
    expect(isHeld).toBe(true);
    await release();
    await all;
    const [transition] = await inbox.list({ merchant_reference: 'HELD' });
    expect(transition).toMatchObject({ bodyCount: 4 });
  });
});

test('threat A59: a lock of one transition that outlasts storeTimeoutMs sends its callback to the spool, or back with the reason, and no other', async () => {
  const spool = join(temporaryFolder(), 'spool');
  const { inbox, schema, hold, events } = poolShop({ inbox: { spool, storeTimeoutMs: 3000 } });
  const { inbox: withoutSpool } = poolShop({ schema, inbox: { storeTimeoutMs: 3000 } });
  await untilDone(() => inbox.ready());
  await untilDone(() => withoutSpool.ready());
  await inbox.receive(paid('HELD', 500));
  await until(async () => (await inbox.list()).length === 1);
  const spooled = events.length;
  const release = await hold(`select 1 from ${schema}.transition for update`);
  const message =
    'Another transaction locked this transition for longer than storeTimeoutMs, so this callback is not acknowledged and the sender is asked to retry. Look for a transaction that stays open after expect({ tx }), or a lock of your own on the tables of the inbox.';
  await Promise.all([
    inbox.receive(paid('HELD', 1)),
    expect(withoutSpool.receive(paid('HELD', 2))).rejects.toThrow(new UnavailableError(message)),
  ]);
  expect(events.at(-1)).toMatchObject({ name: 'callback.spooled' });
  await inbox.receive(paid('OTHER', 500));
  const since = events.slice(spooled).filter(({ name }) => name === 'callback.spooled');
  expect(since).toHaveLength(1);
  await release();
  await until(async () => (await inbox.list({ merchant_reference: 'HELD' }))[0]?.bodyCount === 2);
});

test('threat A59: a busy transition whose last look outlasts storeTimeoutMs does not make the store unavailable', async () => {
  const [isSpooled, spool] = [signal(), join(temporaryFolder(), 'spool')];
  const { inbox, schema, hold, pool, open } = poolShop();
  await inbox.receive(paid('HELD', 500));
  let looks = 0;
  const store = watchedStore(postgres(pool, { schema }), async (text, run) => {
    if (text.includes('as is_free') && ++looks > 1) await isSpooled.promise;
    return run();
  });
  const names: string[] = [];
  const onEvent = ({ name }: InboxEvent): unknown => {
    if (name === 'callback.spooled') isSpooled.give();
    return names.push(name);
  };
  const other = open({ store, spool, storeTimeoutMs: 3000, onEvent });
  await other.ready();
  // The other inbox has looked as well.
  looks = 0;
  const release = await hold(`select 1 from ${schema}.transition for update`);
  await other.receive(paid('HELD', 1));
  await other.receive(paid('OTHER', 500));
  expect(names.filter((name) => name.startsWith('callback.'))).toEqual([
    'callback.spooled',
    'callback.received',
  ]);
  await release();
});

test.each(ENGINES)(
  'threat A59: 64 bodies of one signature take few more statements than one on %s',
  async (engine) => {
    const merchant = await newMerchant(engine);
    let count = 0;
    const store = watchedStore(merchant.newStore(), (_text, run) => {
      count += 1;
      return run();
    });
    const inbox = merchant.open({ store });
    await inbox.receive(callback());
    const before = count;
    await inbox.receive(callback({ id: 2 }));
    const ofOne = count - before;
    await Promise.allSettled(
      Array.from({ length: 64 }, (_, id) => inbox.receive(callback({ id: 100 + id }))),
    );
    // They need not all be in one group.
    expect(count - before).toBeLessThan(5 * ofOne);
    expect(await inbox.list()).toMatchObject([{ bodyCount: 8, refusedBodies: 58 }]);
  },
);
