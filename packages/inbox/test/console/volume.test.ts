import { describe, expect, test } from 'vitest';
import { createInbox } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { visit } from '../support/console.ts';
import { newMerchant } from '../support/merchant.ts';
import { money } from '../support/shop.ts';
import { watchedStore } from '../support/store.ts';
import { workOff } from '../support/until.ts';

describe('with 100,000 settled transitions', () => {
  test('every page takes as many statements, and reads as many rows, as with 100', async () => {
    const merchant = await newMerchant('sqlite');
    let statements = 0;
    let rows = 0;
    const store = watchedStore(merchant.newStore(), async (_text, run) => {
      const found = await run();
      statements += 1;
      rows += found.length;
      return found;
    });
    const inbox = createInbox({ store });
    inbox.handle(() => undefined);
    await inbox.ready();
    for (const reference of ['WRONG', 'LATE']) await inbox.expect(money(reference));
    await inbox.receive(paid('WRONG', 7));
    await workOff(inbox);
    const { transitionId } = paid('WRONG', 7);
    const cost = async (): Promise<Record<string, string>> => {
      const visitor = visit(inbox);
      const found: Record<string, string> = {};
      const paths = [
        '',
        '/transitions',
        '/transitions?state=settled',
        '/transitions?state=quarantined',
        '/overdue',
      ];
      for (const path of [
        ...paths,
        `/transitions/${transitionId}`,
        '/paid?reference=WRONG',
        '/transitions?reference=S-7',
      ]) {
        [statements, rows] = [0, 0];
        expect((await visitor.get(path)).status).toBe(200);
        found[path] = `${statements} statements, ${rows} rows`;
      }
      return found;
    };
    await settled(100);
    const few = await cost();
    await settled(100_000);
    expect((await inbox.stats()).states.settled).toBe(100_100);
    expect(await cost()).toEqual(few);
    await inbox.close();

    /** As a worker leaves them, in the tables. */
    async function settled(count: number): Promise<void> {
      const [{ first = 0 } = {}] = await merchant.query(
        `select max(id) as first from ${merchant.table('callback')}`,
      );
      const numbers = `with recursive n (n) as (select ${Number(first) + 1} union all select n + 1 from n where n < ${Number(first) + count})`;
      const reference = "'S-' || n";
      await merchant.query(`insert into ${merchant.table('callback')}
        (id, transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
        ${numbers} select n, printf('%064x', n), account, replace(signed, 'WRONG', ${reference}), printf('%064x', n), transaction_type,
        printf('%064x', n), n from n, (select * from ${merchant.table('callback')} where id = 1)`);
      await merchant.query(`insert into ${merchant.table('transition')} (id, account, state, bodies, changed_at)
        ${numbers} select n, '', 'settled', 1, n from n`);
      await merchant.query(`update ${merchant.table('tally')} set total = total + ${count}`);
    }
  });
});
