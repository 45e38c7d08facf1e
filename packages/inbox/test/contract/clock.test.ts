import { describe, expect, test } from 'vitest';
import { ENGINES } from '../support/merchant.ts';
import { creditIn, LATER, MINUTE_MS, newDueShop, newShop, order } from '../support/shop.ts';
import { startWork, until, workUntilSettled } from '../support/until.ts';

const HOUR_MS = 60 * MINUTE_MS;
const STEPPED_BACK = expect.objectContaining({
  kind: 'clock_stepped_back',
  error: expect.objectContaining({
    message: expect.stringMatching(
      /^The clock of the database has stepped back by 3(600|59\d) seconds[.] What waited was brought forward by as much, so that it does not wait longer[.] Check the clock of that machine: it should be slewed, not stepped[.]$/,
    ),
  }),
});

describe.each(ENGINES)('a clock that steps back on %s', (engine) => {
  test.each([
    ['an hour', HOUR_MS, [STEPPED_BACK]],
    ['less than a second (control)', 900, []],
  ])(
    'by %s before the worker starts delays no payment, and is reported if it is noticeable',
    async (_, stepMs, problems) => {
      const { merchant, inbox } = await newDueShop(engine);
      inbox.handle(creditIn(merchant));
      await merchant.advance(-stepMs);
      await workUntilSettled(inbox, 1);
      expect(merchant.problems).toEqual(problems);
      expect(await merchant.credits()).toEqual(['ORD-1 500']);
    },
  );

  test('while two workers run reschedules what waits once, and by the same amount', async () => {
    const { merchant, inbox } = await newShop(engine, LATER, () => {
      throw new Error('no');
    });
    const other = merchant.open(LATER);
    other.handle(() => undefined);
    await order(inbox, 'ORD-1');
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state === 'retrying');
    const dueAt = async (): Promise<number> => Number((await inbox.list())[0]?.nextAt);
    const before = await dueAt();
    await merchant.advance(-HOUR_MS);
    const stopOther = startWork(other);
    await until(() => merchant.problems.some(({ kind }) => kind === 'clock_stepped_back'));
    // Wait until both have looked again.
    const beats = async (): Promise<number> =>
      Number((await merchant.query(`select beats from ${merchant.table('pulse')}`))[0]?.['beats']);
    const seen = await beats();
    await until(async () => (await beats()) > seen + 4);
    await stop();
    await stopOther();
    expect(merchant.problems.filter(({ kind }) => kind === 'clock_stepped_back')).toEqual([STEPPED_BACK]);
    // It differs only by the time between two looks.
    expect(Math.abs((await dueAt()) - before)).toBeLessThan(10_000);
  });
});
