import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deliveryKey } from './acknowledgement-record.ts';
import { EFFECT_COLUMNS, EFFECT_TABLE, effectOf } from './database.ts';
import { OPEN, type TestDatabase } from './test-database.ts';

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
  const count = async (condition: string): Promise<number> =>
    Number(
      file.prepare(`select count(*) as n from payment_inbox_transition where ${condition}`).get()?.['n'],
    );
  return {
    database: { store: 'sqlite', path, outsidePath },
    kill: undefined,
    restart: async () => undefined,
    due: () => count(`${OPEN} and next_at <= unixepoch('subsec') * 1000`),
    open: () => count(OPEN),
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
          `select c.transition_id as id, b.content as content
           from payment_inbox_body b join payment_inbox_callback c on c.id = b.transition`,
        )
        .iterate();
      for (const { id, content } of rows) {
        const digest = createHash('sha256').update(String(content)).digest('hex');
        keys.add(deliveryKey({ transitionId: String(id), digest }));
      }
      return keys;
    },
    effects: async () =>
      text(`select ${EFFECT_COLUMNS} from merchant_effect`, isControl ? outside : file).map(effectOf),
    async stop() {
      file.close();
      outside.close();
    },
  };
}
