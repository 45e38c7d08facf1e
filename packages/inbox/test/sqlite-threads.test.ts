import { describe, expect, it } from 'vitest';
import { callbackRecord } from '../src/intake-record.ts';
import { paid } from './support/callbacks.ts';
import { startChild } from './support/child-process.ts';
import { newMerchant } from './support/merchant.ts';
import { newShop } from './support/shop.ts';
import { workOff } from './support/working.ts';

describe('the threads of sqlite', () => {
  it('a value that cannot go to one is refused, and keeps no program from ending', async () => {
    const merchant = await newMerchant('sqlite');
    await merchant.open().ready();
    const { ended } = startChild('unsendable-value.ts', merchant.programArguments);
    expect(await ended).toMatchObject({ code: 0, output: 'DataCloneError\n1\n' });
  });

  it('what people look at has one of its own: deliveries do not wait for it', async () => {
    const merchant = await newMerchant('sqlite');
    const store = merchant.newStore();
    const engine = store.open({
      storeTimeoutMs: 3000,
      handlerTimeoutMs: 3000,
      spool: undefined,
      now: Date.now,
      onConnectionLost: () => undefined,
    });
    await engine.prepare();
    const order: string[] = [];
    const looking = engine.session.query(LONG_STATEMENT).then(() => order.push('looked'));
    await engine.receive([callbackRecord(paid('ORD-1', 500), '', 1)], '').then(() => order.push('kept'));
    await looking;
    expect(order).toEqual(['kept', 'looked']);
    await engine.close();
  });

  it("expect() on a connection of the merchant's own wakes what waits, whatever its rowCount is", async () => {
    const { merchant, inbox } = await newShop('sqlite');
    await inbox.receive(paid('ORD-1', 500));
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ reason: 'no_expectation' }]);
    await merchant.transaction(async (tx) => {
      const query: typeof tx.query = async (text, values) => {
        const { rows } = await tx.query(text, values);
        return { rows, rowCount: rows.length };
      };
      await inbox.expect({ merchant_reference: 'ORD-1', currency: 'UGX', amount: '500' }, { tx: { query } });
    });
    await workOff(inbox);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });
});

const LONG_STATEMENT =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < 8000000) select count(*) from n';
