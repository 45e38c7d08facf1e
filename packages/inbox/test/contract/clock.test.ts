import { describe, expect, test } from 'vitest';
import { Statements } from '../../src/store/statements.ts';
import { paid } from '../support/callbacks.ts';
import { commandOn } from '../support/command.ts';
import { runDoctor } from '../support/doctor.ts';
import { ENGINES } from '../support/merchant.ts';
import { DAY_MS, LATER, MINUTE_MS, newShop, order } from '../support/shop.ts';
import { workOff, workUntilSettled } from '../support/until.ts';

const AHEAD = { ok: false, problems: ['clock_was_ahead'] };
const FINE = { ok: true, problems: [] };

describe.each(ENGINES)("the database's clock was ahead, on %s (threat A72)", (engine) => {
  test.each(['worker', 'drain()'])(
    'health() says so, and a %s applies what was kept meanwhile',
    async (who) => {
      const { merchant, inbox } = await newShop(engine);
      await order(inbox, 'ORD-1', 'ORD-2');
      expect(await inbox.health()).toMatchObject(FINE);
      // Ten minutes are less than the longest delay of a retry.
      await merchant.advance(who === 'worker' ? -DAY_MS : -10 * MINUTE_MS);
      // A repetition wakes nothing.
      await inbox.route.onCallback(paid('ORD-1', 500));
      expect(await inbox.health({ maxPendingAgeSeconds: 2 })).toMatchObject(AHEAD);
      if (who === 'worker') await workUntilSettled(inbox, 2);
      else expect(await inbox.drain()).toMatchObject({ settled: 2, left: 0 });
      expect(await merchant.credits()).toEqual(['ORD-1 500', 'ORD-2 500']);
      expect(await inbox.health()).toMatchObject(FINE);
    },
  );

  test('a retry, a look and an attempt that was under way are due after their own delay at the latest', async () => {
    const { merchant, inbox } = await newShop(engine, LATER, () => {
      throw new Error('the ledger is unavailable');
    });
    const { firstDelayMs, longestDelayMs } = LATER.retry;
    const statements = new Statements(merchant.newStore());
    const putOff = async () =>
      (await statements.run('find_put_off', ['', firstDelayMs, longestDelayMs, 1000, 3_600_000])).length;
    await order(inbox, 'FAILED', 'BUSY');
    await inbox.route.onCallback(paid('UNEXPECTED', 500));
    await workOff(inbox);
    const table = merchant.table('transition');
    const { transitionId } = paid('BUSY', 500);
    const busy = `id = (select id from ${merchant.table('callback')} where transition_id = '${transitionId}')`;
    await merchant.query(`update ${table} set busy_until = next_at, next_at = changed_at where ${busy}`);
    // As they are now, no delay is too long (control).
    expect(await putOff()).toBe(0);
    await merchant.query(`update ${table} set busy_until = busy_until + ${DAY_MS} where ${busy}`);
    const put = (state: string) =>
      merchant.query(
        `update ${table} set next_at = next_at + ${DAY_MS} where not ${busy} and state = '${state}'`,
      );
    await put('retrying');
    expect(await putOff()).toBe(2);
    // Another program may set longer delays: only a time of the future shows that the clock was ahead.
    expect(await inbox.health()).toMatchObject(FINE);
    // All programs look after the same delays.
    await put('unhandled');
    expect(await putOff()).toBe(3);
    expect(await inbox.health()).toMatchObject(AHEAD);
    await merchant.query(`update ${table} set changed_at = changed_at + ${DAY_MS} where not ${busy}`);
    expect(await inbox.health()).toMatchObject(AHEAD);
    const { args, env } = commandOn(merchant);
    const { names, seen } = await runDoctor(args, env);
    expect(names[0]).toBe('problem clock');
    expect(seen).toContain('The next attempt of 2 reports is later than any rule allows');
    expect(await inbox.drain()).toMatchObject({ settled: 0, parked: 1, retrying: 2 });
    expect(await putOff()).toBe(0);
    expect(await inbox.health()).toMatchObject(FINE);
  });
});
