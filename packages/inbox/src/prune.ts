import { bytesOf, numberOf, type Session } from './session.ts';
import type { StoreEngine } from './store.ts';

const CHUNK = 500;

/**
 * Removes the text of old bodies, and with it the personal data, where nobody needs it any more: settled, resolved and
 * unhandled transitions. What they claimed and that they came stays for ever, so that a repetition is still known.
 *
 * @returns how many bodies.
 */
export async function pruneBodies<Tx>(
  engine: StoreEngine<Tx>,
  account: string,
  olderThan: number,
): Promise<number> {
  let pruned = 0;
  let after: Position = { transition: 0, digest: new Uint8Array() };
  for (;;) {
    const chunk = await engine.transaction((session) =>
      pruneChunk(session, engine, { account, olderThan, after }),
    );
    pruned += chunk.count;
    if (chunk.last === undefined) return pruned;
    after = chunk.last;
  }
}

interface Position {
  readonly transition: number;
  readonly digest: Uint8Array;
}

/**
 * In the order of the primary key, so that no chunk reads again what an earlier one has read. A body that comes again at
 * this moment is passed over: it is not old any more.
 */
async function pruneChunk<Tx>(
  session: Session,
  engine: StoreEngine<Tx>,
  { account, olderThan, after }: { account: string; olderThan: number; after: Position },
): Promise<{ count: number; last: Position | undefined }> {
  const { tables } = engine;
  const { rows } = await session.query(
    `select b.transition, b.digest from ${tables.body} b
     join ${tables.transition} t on t.id = b.transition
     where (b.transition, b.digest) > ($1, $2) and b.body is not null and b.last_at < $3 and t.account = $4
       and t.state in ('settled', 'resolved', 'unhandled')
     order by b.transition, b.digest limit ${CHUNK} ${engine.lockRows('b')}`,
    [after.transition, after.digest, olderThan, account],
  );
  for (const row of rows) {
    await session.query(`update ${tables.body} set body = null where transition = $1 and digest = $2`, [
      numberOf(row, 'transition'),
      bytesOf(row, 'digest'),
    ]);
  }
  const last = rows.length < CHUNK ? undefined : rows.at(-1);
  return {
    count: rows.length,
    last: last && { transition: numberOf(last, 'transition'), digest: bytesOf(last, 'digest') },
  };
}
