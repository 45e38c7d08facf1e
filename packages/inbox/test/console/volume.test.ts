import { expect, test } from 'vitest';
import { createInbox } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { pageOf, visit } from '../support/console.ts';
import { newMerchant } from '../support/merchant.ts';
import { money } from '../support/shop.ts';
import { watchedStore } from '../support/store.ts';
import { workOff } from '../support/until.ts';

const STATES = ['', '?state=paid', '?state=needed', '?search=WRONG'];
const PATHS = [
  ...['', '/money', '/payment?reference=WRONG', pageOf('WRONG')],
  ...STATES.map((query) => `/payments${query}`),
];

test('every page of the console takes as many statements, and reads as many rows, with 100,000 paid payments as with 10,700', async () => {
  const merchant = await newMerchant('sqlite');
  const { table, query } = merchant;
  let [statements, rows] = [0, 0];
  const store = watchedStore(merchant.newStore(), async (_text, run) => {
    const found = await run();
    statements += 1;
    rows += found.length;
    return found;
  });
  const inbox = createInbox({ store });
  inbox.handle('paid', () => undefined);
  for (const reference of ['WRONG', 'LATE']) await inbox.expect(money(reference));
  await inbox.route.onCallback(paid('WRONG', 7));
  await workOff(inbox);
  const cost = async (): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const path of PATHS) {
      [statements, rows] = [0, 0];
      // A new console, which has read no version yet.
      expect((await visit(inbox).get(path)).status).toBe(200);
      found[path] = `${statements} statements, ${rows} rows`;
    }
    return found;
  };
  /** Inserts them into the tables as a worker leaves them. */
  const settled = async (from: number, to: number): Promise<void> => {
    const numbers = `with recursive n (n) as (select ${from} union all select n + 1 from n where n < ${to})`;
    const id = "printf('%064x', n)";
    await query(`insert into ${table('callback')}
      (id, transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
      ${numbers} select n, ${id}, account, replace(signed, 'WRONG', 'S-' || n), ${id}, transaction_type, ${id}, n
      from n, (select * from ${table('callback')} where id = 1)`);
    await query(`insert into ${table('transition')} (id, account, state, bodies, changed_at)
      ${numbers} select n, '', 'settled', 1, n from n`);
    await query(`insert into ${table('payment')}
      (reference_key, transaction_type, account, merchant_reference, state, currency, amount, compare, replaced, settled_by, settled_at, changed_at)
      ${numbers} select ${id}, '"COLLECTION"', '', '"S-' || n || '"', 'paid', 'UGX', '500', 'both', '[]', ${id}, n, n from n`);
    await query(`update ${table('tally')} set total = total + ${to - from + 1}`);
  };
  await settled(2, 10_701);
  const few = await cost();
  await settled(10_702, 100_101);
  expect(await inbox.counts()).toMatchObject({ paid: 10_000, needed: 1 });
  expect(await cost()).toEqual(few);
  await inbox.close();
});
