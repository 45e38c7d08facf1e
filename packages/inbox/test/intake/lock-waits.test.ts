import { join } from 'node:path';
import { expect, test } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { poolShop } from '../support/pool-shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until, untilDone } from '../support/until.ts';

test('threat A59: while an UPDATE that is not committed holds a transition, callbacks of other references are acknowledged, and the others once it is released', async () => {
  const { inbox, schema, hold } = poolShop({ inbox: { storeTimeoutMs: 15_000 } });
  for (const reference of ['HELD', 'KNOWN']) await inbox.route.onCallback(paid(reference, 500));
  const { transitionId } = paid('HELD', 500);
  const release = await hold(
    `update ${schema}.transition set revision = revision + 1
    where id = (select id from ${schema}.callback where transition_id = $1)`,
    [transitionId],
  );
  // In the order of a flood: first those that wait, then, in the same groups, those that must not wait.
  const held = [1, 2, 3].map((amount) => inbox.route.onCallback(paid('HELD', amount)));
  let isHeld = true;
  const all = Promise.all(held).then(() => {
    isHeld = false;
  });
  for (let round = 0; round < 3; round += 1) {
    const others = [paid('KNOWN', 500), paid('KNOWN', round), paid(`NEW-${round}`, 500)];
    await Promise.all(others.map((each) => inbox.route.onCallback(each)));
  }
  // Control: they do wait for this lock.
  expect(isHeld).toBe(true);
  await release();
  await all;
  const [transition] = await inbox.reports({ merchant_reference: 'HELD' });
  expect(transition).toMatchObject({ bodyCount: 4 });
});

test('threat A59: a lock of one transition that outlasts storeTimeoutMs sends its callback to the spool, or back with the reason, and no other', async () => {
  const spool = join(temporaryFolder(), 'spool');
  const { inbox, schema, hold, events } = poolShop({ inbox: { spool, storeTimeoutMs: 3000 } });
  const { inbox: withoutSpool } = poolShop({ schema, inbox: { storeTimeoutMs: 3000 } });
  await untilDone(() => inbox.ready());
  await untilDone(() => withoutSpool.ready());
  await inbox.route.onCallback(paid('HELD', 500));
  await until(async () => (await inbox.reports()).length === 1);
  const spooled = events.length;
  const release = await hold(`select 1 from ${schema}.transition for update`);
  const message = expect.stringContaining('locked this transition for longer than storeTimeoutMs');
  await Promise.all([
    inbox.route.onCallback(paid('HELD', 1)),
    expect(withoutSpool.route.onCallback(paid('HELD', 2))).rejects.toMatchObject({
      name: 'UnavailableError',
      message,
    }),
  ]);
  expect(events.at(-1)).toMatchObject({ name: 'callback.spooled' });
  await inbox.route.onCallback(paid('OTHER', 500));
  const since = events.slice(spooled).filter(({ name }) => name === 'callback.spooled');
  expect(since).toHaveLength(1);
  await release();
  // It stores what is in the spool when it starts.
  await poolShop({ schema, inbox: { spool } }).inbox.ready();
  await until(async () => (await inbox.reports({ merchant_reference: 'HELD' }))[0]?.bodyCount === 2);
});
