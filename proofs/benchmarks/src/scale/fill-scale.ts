import { withClient } from '@payment-service/durability/load/postgres.ts';
import type pg from 'pg';

/** The number of payments that wait for a worker, and of those that wait for the next attempt. */
const WAITING = 1000;
const CHUNK = 500_000;
/** Only the newest have their bodies: prune() has removed the text of the others. */
const WITH_TEXT = 0.1;
const YEAR_MS = 365 * 86_400_000;
/** What waits is due after the measurements, and no later than after so many attempts: drain() would bring it back. */
const WAIT_MS = 3_500_000;

const key = (field: string, reference: string): string =>
  `rtrim(translate(encode(sha256(convert_to('["${field}","","' || ${reference} || '"]', 'utf8')), 'base64'), '+/', '-_'), '=')`;
const ID = "encode(sha256(convert_to(i::text, 'utf8')), 'hex')";
const IS_OPEN = 'i > $3 - 2000 or i % 100 = 7 or i % 1000 = 13';
/** Of the others, a few are failed, or were paid twice. */
const IS_UNPAID = `${IS_OPEN} or i % 1000 = 17`;
const PAYMENT_STATE = `case when i % 1000 = 13 and i <= $3 - 2000 then 'held' when ${IS_OPEN} then 'open'
  when i % 1000 = 17 then 'failed' else 'paid' end`;
const NEEDS = `case when i > $3 - 2000 then null when i % 1000 = 13 then 'amount_mismatch'
  when i % 1000 = 19 then 'already_settled' end`;
const FROM = 'from generate_series($1::bigint, $2::bigint) as i where $3::bigint > 0 and $4::bigint > 0';
const STATE = `case when i > $3 - ${WAITING} then 'pending' when i > $3 - ${WAITING * 2} then 'retrying'
  when i % 100 = 7 then 'unhandled' when i % 1000 = 13 then 'quarantined' else 'settled' end`;
/** From a year ago until now. */
const AT = `$4 + (i * ${YEAR_MS}.0 / $3)::bigint`;

/** In the format of the inbox. */
const SIGNED = `'{"event":"transaction.completed","merchant_reference":"ORD-' || i || '","internal_reference":"INT-' || i ||
    '","transaction_type":"COLLECTION","transaction_status":"COMPLETED"}'`;

/** Parameters of each: the first and last number of a chunk, the total number, and the time of the first payment. */
const FILLS = [
  `insert into payment_inbox.callback (transition_id, account, signed, reference_key, transaction_type, subject_key, first_at)
  select ${ID}, '', ${SIGNED},
    ${key('merchant_reference', "'ORD-' || i")}, '"COLLECTION"', ${key('internal_reference', "'INT-' || i")}, ${AT} ${FROM}`,
  `insert into payment_inbox.transition (id, account, state, reason, bodies, attempts, start_id, place, next_at, changed_at,
    settled_digest)
  select i, '', ${STATE}, case when i > $3 - 2000 then null when i % 100 = 7 then 'no_handler' when i % 1000 = 13 then
      'amount_mismatch' end, 1, case when i > $3 - 2000 then 20 else 1 end, gen_random_uuid(), case when ${IS_OPEN} then null else 1 end,
    case when i > $3 - 2000 then $4 + ${YEAR_MS + WAIT_MS} end, ${AT} + 1000, case when ${IS_OPEN} then null else ${ID} end ${FROM}`,
  `insert into payment_inbox.body (transition, digest, content, claims, key_id, first_at, provider)
  select i, ${ID}, case when i > $3 * ${1 - WITH_TEXT} then repeat('x', 560) end,
    '{"request":{"currency":"UGX","amount":"500"},"transaction":{"currency":"UGX","amount":"500"}}', 'default', ${AT},
    case when i % 10 = 0 then 'example_bank' else 'example_mobile_money' end ${FROM}`,
  `insert into payment_inbox.delivery (transition, digest, repeats, last_at) select i, ${ID}, 1, ${AT} ${FROM} and i % 50 = 0`,
  `insert into payment_inbox.payment (reference_key, transaction_type, account, merchant_reference, state, needs, currency,
    amount, compare, replaced, deadline_at, settled_by, settled_at, changed_at)
  select ${key('merchant_reference', "'ORD-' || i")}, '"COLLECTION"', '', '"ORD-' || i || '"', ${PAYMENT_STATE}, ${NEEDS}, 'UGX', '500', 'both', '[]', ${AT},
    case when ${IS_UNPAID} then null else ${ID} end, case when ${IS_UNPAID} then null else ${AT} end, ${AT} ${FROM}`,
];

/** Creates payments in the tables of the inbox, as a year leaves them. Indexes are built once the rows exist. */
export async function fillScale(url: string, payments: number): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(
      "set synchronous_commit = off; set maintenance_work_mem = '1GB'; set work_mem = '64MB'",
    );
    const build = await dropIndexes(client);
    const first = Date.now() - YEAR_MS;
    for (let from = 1; from <= payments; from += CHUNK) {
      const to = Math.min(payments, from + CHUNK - 1);
      for (const text of FILLS) await client.query(text, [from, to, payments, first]);
    }
    // Each group commit of the receivers left a row, and the worker has merged all but the last ones.
    await client.query("insert into payment_inbox.tally (account, total) values ('', $1)", [payments - 500]);
    await client.query(
      "insert into payment_inbox.tally (account, total) select '', 1 from generate_series(1, 500)",
    );
    for (const text of build) await client.query(text);
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  });
}

/** @returns the statements that recreate them. */
async function dropIndexes(client: pg.Client): Promise<string[]> {
  const keys = await client.query<{ name: string; of: string; text: string }>(
    `select conname as name, conrelid::regclass::text as of, pg_get_constraintdef(oid) as text from pg_constraint
    where connamespace = 'payment_inbox'::regnamespace and contype in ('p', 'u')`,
  );
  const indexes = await client.query<{ name: string; text: string }>(
    `select indexname as name, indexdef as text from pg_indexes where schemaname = 'payment_inbox'
    and indexname not in (select conname from pg_constraint)`,
  );
  for (const { name, of } of keys.rows) await client.query(`alter table ${of} drop constraint ${name}`);
  for (const { name } of indexes.rows) await client.query(`drop index payment_inbox.${name}`);
  return [
    ...keys.rows.map(({ name, of, text }) => `alter table ${of} add constraint ${name} ${text}`),
    ...indexes.rows.map(({ text }) => text),
  ];
}
