import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { paid } from '../support/callbacks.ts';
import { poolShop } from '../support/pool-shop.ts';
import { ORDER } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { startWork } from '../support/working.ts';

const NAMES = [
  'lock_timeout',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'synchronous_commit',
  'transaction_isolation',
  'search_path',
];
// A setting of an extension's form: unknown before somebody sets it, and empty after the transaction.
const SETTINGS = `select ${NAMES.map((name) => `current_setting('${name}') as ${name}`).join(', ')},
  coalesce(current_setting('payment_inbox.attempt', true), '') as attempt, pg_backend_pid() as id`;
const MAX = 4;

describe('the connections of a pool, which others use as well, as behind a pooler', () => {
  it.each([
    ['settled', () => undefined],
    [
      'retrying',
      () => {
        throw new Error('no');
      },
    ],
  ])('have the settings of before when a payment is %s', async (state, run) => {
    const { inbox, pool } = poolShop({
      max: MAX,
      options: '-c lock_timeout=1234 -c statement_timeout=54321',
    });
    await inbox.ready();
    const before = await settingsOf(pool);
    expect(before).toHaveLength(MAX);
    expect(before[0]).toMatchObject({ lock_timeout: '1234ms', statement_timeout: '54321ms', attempt: '' });
    const inside: unknown[] = [];
    inbox.handle(async ({ tx }) => {
      inside.push((await tx.query(SETTINGS)).rows[0]);
      run();
    });
    await inbox.expect(ORDER);
    await inbox.receive(paid('ORD-1', 500));
    await inbox.receive(paid('ORD-1', 500));
    const stop = startWork(inbox);
    await until(async () => (await inbox.list())[0]?.state === state);
    await stop();
    await inbox.health();
    // In it they were others (control).
    expect(inside[0]).toMatchObject({
      lock_timeout: '10s',
      statement_timeout: '30s',
      attempt: expect.stringMatching(/^\d+\/1$/),
    });
    const after = await settingsOf(pool);
    const known = after.filter((row) => before.some((one) => one['id'] === row['id']));
    // All but the one that has listened.
    expect(known.length).toBeGreaterThanOrEqual(MAX - 1);
    for (const settings of after) expect({ ...settings, id: 0 }).toEqual({ ...before[0], id: 0 });
  });
});

/** Of all the pool's connections, each taken for itself. */
async function settingsOf(pool: pg.Pool): Promise<Record<string, unknown>[]> {
  const clients = await Promise.all(Array.from({ length: MAX }, () => pool.connect()));
  const settings = await Promise.all(
    clients.map((client) => client.query<Record<string, unknown>>(SETTINGS)),
  );
  for (const client of clients) client.release();
  return settings.flatMap(({ rows }) => rows);
}
