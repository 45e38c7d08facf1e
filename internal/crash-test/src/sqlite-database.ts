import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deliveryKey } from './acknowledgement-record.ts';
import { EFFECT_COLUMNS, EFFECT_TABLE } from './database.ts';
import { PENDING, type TestDatabase } from './test-database.ts';

/** One file that all processes share; there is no server, so killing them is killing it. */
export function sqliteDatabase(folder: string, isControl: boolean): TestDatabase {
  const path = join(folder, 'shop.db');
  const outsidePath = join(folder, 'outside.db');
  const file = new DatabaseSync(path, { timeout: 10_000 });
  const outside = new DatabaseSync(outsidePath, { timeout: 10_000 });
  for (const one of [file, outside]) {
    one.exec('pragma journal_mode = wal; pragma synchronous = full');
    one.exec(EFFECT_TABLE);
  }
  const text = (statement: string, from: DatabaseSync = file): Record<string, string>[] =>
    from.prepare(statement).all() as Record<string, string>[];
  return {
    database: { store: 'sqlite', path, outsidePath },
    kill: undefined,
    restart: async () => undefined,
    async pending() {
      return Number(
        file.prepare(`select count(*) as n from payment_inbox_transition where ${PENDING}`).get()?.['n'],
      );
    },
    async states() {
      const rows = text(
        `select state || coalesce(': ' || reason, '') as state, count(*) as n from payment_inbox_transition
         group by 1 order by 1`,
      );
      return Object.fromEntries(rows.map(({ state = '', n }) => [state, Number(n)]));
    },
    async stored() {
      const keys = new Set<string>();
      const rows = file
        .prepare(
          `select lower(hex(t.transition_id)) as id, b.body as body
           from payment_inbox_body b join payment_inbox_transition t on t.id = b.transition`,
        )
        .iterate();
      for (const { id, body } of rows) {
        const digest = createHash('sha256')
          .update(body instanceof Uint8Array ? body : '')
          .digest('hex');
        keys.add(deliveryKey({ transitionId: String(id), digest }));
      }
      return keys;
    },
    async effects() {
      const rows = text(`select ${EFFECT_COLUMNS} from merchant_effect`, isControl ? outside : file);
      return rows.map(
        ({ transition_id: transitionId = '', reference = '', status = '', currency = '', amount = '' }) => ({
          transitionId,
          reference,
          status,
          currency,
          amount,
        }),
      );
    },
    async crashLooped() {
      const rows = text(
        `select lower(hex(transition_id)) as id from payment_inbox_transition where reason = 'crash_loop'`,
      );
      return rows.map(({ id = '' }) => id);
    },
    async stop() {
      file.close();
      outside.close();
    },
  };
}
