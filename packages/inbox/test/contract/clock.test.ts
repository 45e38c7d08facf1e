import { expect, test } from 'vitest';
import { creditIn, MINUTE_MS, newDueShop } from '../support/shop.ts';
import { workUntilSettled } from '../support/until.ts';

const HOUR_MS = 60 * MINUTE_MS;
const error = { message: expect.stringMatching(/ stepped back by 3(600|59\d) seconds[.]/) };

test.each([
  ['an hour', HOUR_MS, [{ kind: 'clock_stepped_back', error }]],
  ['less than a second (control)', 900, []],
])(
  'a clock that steps back by %s before the worker starts delays no payment, and is reported if it is noticeable',
  async (_, stepMs, problems) => {
    const { merchant, inbox } = await newDueShop('sqlite');
    inbox.handle(creditIn(merchant));
    await merchant.advance(-stepMs);
    await workUntilSettled(inbox, 1);
    expect(merchant.problems).toMatchObject(problems);
    expect(await merchant.credits()).toEqual(['ORD-1 500']);
  },
);
