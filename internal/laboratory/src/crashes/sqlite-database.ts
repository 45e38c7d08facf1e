import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EFFECT_TABLE, effectOf, READ_EFFECTS } from '../history/effects.ts';
import { OPEN } from '../history/postgres-remains.ts';
import type { TestDatabase } from './test-database.ts';

const STATES = `select state || coalesce(': ' || reason, '') as state, count(*) as n from payment_inbox_transition
  group by 1 order by 1`;
const BODIES = `select c.transition_id as id, b.content as content
  from payment_inbox_body b join payment_inbox_callback c on c.id = b.transition`;

const SQLITE_FULL = 13;

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
  const count = async (condition: string): Promise<number> =>
    Number(
      file.prepare(`select count(*) as n from payment_inbox_transition where ${condition}`).get()?.['n'],
    );
  return {
    database: { store: 'sqlite', path, outsidePath },
    kill: undefined,
    restart: async () => undefined,
    async fillUp() {
      try {
        file.exec(
          'create table if not exists filler (content text); insert into filler values (zeroblob(1000000))',
        );
        return 'room';
      } catch (error) {
        return Reflect.get(Object(error), 'errcode') === SQLITE_FULL ? 'full' : 'room';
      }
    },
    revive: async () => file.exec('drop table if exists filler'),
    setClock: undefined,
    keptAt: async () =>
      file
        .prepare('select first_at as at from payment_inbox_callback order by id')
        .all()
        .map(({ at }) => Number(at)),
    seenAt: async () =>
      Number(file.prepare('select max(seen_at) as at from payment_inbox_pulse').get()?.['at']),
    due: () => count(`${OPEN} and next_at <= unixepoch('subsec') * 1000`),
    open: () => count(OPEN),
    async remains() {
      const states = file
        .prepare(STATES)
        .all()
        .map(({ state, n }) => [String(state), Number(n)]);
      const kept = new Set<string>();
      for (const { id, content } of file.prepare(BODIES).iterate())
        kept.add(`${id}:${createHash('sha256').update(String(content)).digest('hex')}`);
      const effects = (isControl ? outside : file).prepare(READ_EFFECTS).all().map(effectOf);
      return { states: Object.fromEntries(states), kept, effects };
    },
    async stop() {
      file.close();
      outside.close();
    },
  };
}
