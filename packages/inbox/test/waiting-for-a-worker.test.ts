import { describe, expect, it } from 'vitest';
import { paid } from './support/callbacks.ts';
import { startChild } from './support/child-process.ts';
import { ENGINES, newMerchant } from './support/merchant.ts';
import { MINUTE_MS, order } from './support/shop.ts';
import { startWork, until, workOff } from './support/until.ts';

const NO_WORKER = {
  kind: 'no_worker',
  isRepeated: false,
  error: {
    message: expect.stringMatching(/has been due for 12\d seconds.*probably no process runs inbox\.work\(\)/),
  },
};

describe.each(ENGINES)('callbacks that wait on %s', (engine) => {
  it('while nothing works are reported by a process that keeps callbacks, once', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    await order(inbox, 'A');
    await inbox.close();
    await merchant.advance(2 * MINUTE_MS);
    const other = merchant.open();
    for (const reference of ['B', 'C']) await other.receive(paid(reference, 500));
    await until(() => merchant.problems.length > 0);
    await other.receive(paid('D', 500));
    expect(merchant.problems).toMatchObject([NO_WORKER]);
  });

  it('are not reported by a process that works, nor while nothing is late (control)', async () => {
    const merchant = await newMerchant(engine);
    const [first, working] = [merchant.open(), merchant.open()];
    await order(first, 'A');
    await first.close();
    await merchant.advance(2 * MINUTE_MS);
    working.handle(() => undefined);
    const stop = startWork(working);
    await order(working, 'B');
    await until(async () => (await working.stats()).states.settled === 2);
    await stop();
    await workOff(working);
    await order(merchant.open(), 'C');
    expect(merchant.problems).toEqual([]);
  });
});

it('the look for a worker does not keep a process alive', async () => {
  const merchant = await newMerchant('sqlite');
  const { ended } = startChild('unclosed.ts', merchant.programArguments);
  expect(await ended).toMatchObject({ code: 0 });
});
