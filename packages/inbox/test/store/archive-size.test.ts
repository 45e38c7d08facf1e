import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createInbox, postgres, type Store, sqlite } from '../../src/index.ts';
import { Statements } from '../../src/store/statements.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Pages of random keys fill and split at about the same time: at 25,000 rows they are as full as at 100,000. */
const COUNT = 25_000;
const AT_MOST = 250;
const DAY_MS = 86_400_000;

/** Payments that were settled long ago, in a random order of their references, each of which has 36 characters. */
const BATCH = 5000;
const id = (unique: string): string => unique.replaceAll('-', '').padEnd(64, '0');

/** Inserts so many settled payments, and archives them. */
async function fill<Tx>(store: Store<Tx>, each: string, overriding = ''): Promise<void> {
  const inbox = createInbox({ store });
  await inbox.ready();
  const given = `with given as (select value from ${each})`;
  for (let from = 1; from <= COUNT; from += BATCH) {
    const rows = Array.from({ length: BATCH }, (_, index) => {
      const [merchant_reference, internal_reference] = [randomUUID(), randomUUID()];
      const [transaction_type, transaction_status] = ['COLLECTION', 'COMPLETED'];
      const event = 'transaction.completed';
      const signed = JSON.stringify({
        ...{ event, merchant_reference, internal_reference, transaction_type, transaction_status },
      });
      return {
        n: from + index,
        id: id(randomUUID()),
        signed,
        reference: merchant_reference,
        amount: '125000',
      };
    });
    const insert = async (into: string, select: string): Promise<void> => {
      const text = `insert into ${store.prefix}${into} ${given} select ${select} from given`;
      await store.query({ text }, [JSON.stringify(rows)]);
    };
    const n = "cast(value ->> 'n' as bigint)";
    await insert(
      `callback (id, transition_id, account, signed, reference_key, transaction_type, subject_key, first_at) ${overriding}`,
      `${n}, value ->> 'id', '', value ->> 'signed', value ->> 'reference', '"COLLECTION"', value ->> 'id', 0`,
    );
    await insert(
      'transition (id, account, state, bodies, place, changed_at)',
      `${n}, '', 'settled', 1, 1, ${Date.now() - 500 * DAY_MS}`,
    );
    await insert(
      'body (transition, digest, claims, key_id, first_at)',
      `${n}, value ->> 'id', '{}', 'default', 0`,
    );
    await insert(
      'expectation (reference_key, transaction_type, account, merchant_reference, currency, amount, compare, replaced, settled_by, changed_at)',
      `value ->> 'reference', '"COLLECTION"', '', value ->> 'reference', 'UGX', value ->> 'amount', 'both', '[]', value ->> 'id', 0`,
    );
  }
  expect(await inbox.prune({ archiveOlderThanDays: 365 })).toMatchObject({ archived: COUNT });
}

/** With so many rows after another, so that the indexes are as a random order of keys leaves them. */
describe('threat A60: the size of an archived payment on disk, indexes included', () => {
  test('is at most 250 bytes on postgres', async () => {
    const pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 4 });
    onTestFinished(() => pool.end());
    const store = postgres(pool, { schema: 'archive_size' });
    await fill(store, 'jsonb_array_elements(cast($1 as jsonb)) as given(value)', 'overriding system value');
    const { rows } = await pool.query<{ name: string; bytes: string }>(
      `select c.relname as name, pg_total_relation_size(c.oid) as bytes from pg_class c
      where c.relnamespace = 'archive_size'::regnamespace and c.relname in ('archive', 'archive_kind')`,
    );
    const bytes = rows.reduce((sum, row) => sum + Number(row.bytes), 0);
    console.log(`postgres: ${(bytes / COUNT).toFixed(1)} bytes an archived payment`);
    expect(bytes / COUNT).toBeLessThanOrEqual(AT_MOST);
    for (const name of ['keep_firsts', 'read_case', 'find_archived', 'add_expectation']) {
      const { text } = new Statements(store).get(name);
      const plan = await pool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`);
      const lines = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(lines, name).toMatch(/Index Scan using archive_|Bitmap Index Scan on archive_/);
      expect(lines, name).not.toMatch(/Seq Scan on archive( |$)/m);
    }
    const control = await pool.query<{ 'QUERY PLAN': string }>(
      "explain select id from archive_size.archive where amount = ''",
    );
    expect(control.rows[0]?.['QUERY PLAN']).toContain('Seq Scan on archive');
  });

  test('is at most 250 bytes on sqlite', async () => {
    const store = sqlite(`${temporaryFolder()}/size.db`);
    onTestFinished(async () => store.close?.());
    await fill(store, 'json_each($1)');
    const [row] = await store.query(
      {
        text: `select sum(pgsize) as bytes from dbstat where name like '%archive%'`,
      },
      [],
    );
    console.log(`sqlite: ${(Number(row?.['bytes']) / COUNT).toFixed(1)} bytes an archived payment`);
    expect(Number(row?.['bytes']) / COUNT).toBeLessThanOrEqual(AT_MOST);
  });
});
