import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { ENGINES, newMerchant } from '../support/merchant.ts';
import { until } from '../support/until.ts';

describe.each(ENGINES)('several worker processes on %s', (engine) => {
  it('settle every payment once, and take none for one that ends its process', async () => {
    const merchant = await newMerchant(engine);
    const inbox = merchant.open();
    const references = Array.from({ length: 30 }, (_, index) => `ORD-${index}`);
    for (const reference of references) {
      await inbox.expect({ merchant_reference: reference, currency: 'UGX', amount: 500 });
    }
    const workers = Array.from({ length: 3 }, () =>
      startChild('poisoned-worker.ts', merchant.programArguments),
    );
    for (const reference of references) await inbox.receive(paid(reference, 500));
    await until(async () => {
      const { states } = await inbox.stats();
      return states.settled + states.quarantined === references.length;
    });
    for (const worker of workers) worker.kill('SIGTERM');
    for (const { ended } of workers) expect(await ended).toMatchObject({ code: 0 });
    expect((await inbox.stats()).states).toMatchObject({ settled: 30, quarantined: 0 });
    expect((await merchant.credits()).map(({ reference }) => reference)).toEqual([...references].sort());
    expect(
      await merchant.query(`select id from ${merchant.table('transition')} where unfinished > 0`),
    ).toEqual([]);
  });
});
