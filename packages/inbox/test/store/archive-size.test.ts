import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createInbox, postgres, type Store, sqlite } from '../../src/index.ts';
import { Statements } from '../../src/store/statements.ts';
import { fill, numbers } from '../support/plans.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Pages of random keys fill and split at about the same time: with this many rows they are nearly as full as with 100,000. */
const COUNT = { postgres: 12_500, sqlite: 5000 };
const AT_MOST = 250;

/** Payments that were settled long ago, in a random order of their references, each of which has 36 characters. */
const fills = (count: number, uuid: string, id: string, overriding = ''): string[] => [
  `create table inbox.given as
  ${numbers(count)} select i + 1000 as i, ${uuid} as reference, ${uuid} as internal, ${id} as id from n`,
  `insert into inbox.callback (id, transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  ${overriding} select i, id, '', '{"event":"transaction.completed","merchant_reference":"' || reference || '","internal_reference":"' ||
    internal || '","transaction_type":"COLLECTION","transaction_status":"COMPLETED"}', reference, '"COLLECTION"', id, 0
  from inbox.given`,
  `insert into inbox.transition (id, account, state, bodies, place, changed_at)
  select i, '', 'settled', 1, 1, 0 from inbox.given`,
  `insert into inbox.body (transition, digest, claims, key_id, first_at) select i, id, '{}', 'default', 0 from inbox.given`,
  `insert into inbox.expectation (reference_key, transaction_type, account, merchant_reference, currency, amount, compare,
    replaced, settled_by, changed_at)
  select reference, '"COLLECTION"', '', reference, 'UGX', '125000', 'both', '[]', id, 0 from inbox.given`,
];

async function archive<Tx>(store: Store<Tx>, given: readonly string[]): Promise<void> {
  await fill(store, given);
  expect(await createInbox({ store }).prune({ archiveOlderThanDays: 365 })).toMatchObject({
    archived: COUNT[store.dialect],
  });
}

function expectSmall(bytes: unknown, count: number): void {
  console.log(`${(Number(bytes) / count).toFixed(1)} bytes an archived payment`);
  expect(Number(bytes) / count).toBeLessThanOrEqual(AT_MOST);
}

/** Rows are inserted one after another, so that the indexes are as a random order of keys leaves them. */
test('threat A60: the size of an archived payment on disk, indexes included, is at most 250 bytes on postgres', async () => {
  const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 4 });
  onTestFinished(() => pool.end());
  const store = postgres(pool, { schema: 'archive_size' });
  const id = "replace(gen_random_uuid()::text || gen_random_uuid(), '-', '')";
  await archive(store, fills(COUNT.postgres, 'gen_random_uuid()::text', id, 'overriding system value'));
  const { rows } = await pool.query(
    `select sum(pg_total_relation_size(oid)) as bytes from pg_class
    where relnamespace = 'archive_size'::regnamespace and relname in ('archive', 'archive_kind')`,
  );
  expectSmall(rows[0].bytes, COUNT.postgres);
  const planOf = async (text: string): Promise<string> =>
    JSON.stringify((await pool.query(`explain (generic_plan) ${text}`)).rows);
  for (const name of ['keep_firsts', 'read_case', 'find_archived', 'add_expectation']) {
    const plan = await planOf(new Statements(store).get(name).text);
    expect(plan, name).toMatch(/Index Scan using archive_|Bitmap Index Scan on archive_/);
    expect(plan, name).not.toMatch(/Seq Scan on archive( |")/);
  }
  const control = await planOf("select id from archive_size.archive where amount = ''");
  expect(control).toContain('Seq Scan on archive ');
});

test('threat A60: the size of an archived payment on disk, indexes included, is at most 250 bytes on sqlite', async () => {
  const store = sqlite(`${temporaryFolder()}/size.db`);
  onTestFinished(async () => store.close?.());
  await archive(store, fills(COUNT.sqlite, 'lower(hex(randomblob(18)))', 'lower(hex(randomblob(32)))'));
  const text = "select sum(pgsize) as bytes from dbstat where name like '%archive%'";
  const [row] = await store.query({ text }, []);
  expectSmall(row?.['bytes'], COUNT.sqlite);
});
