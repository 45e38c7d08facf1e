import pg from 'pg';

export interface OldSnapshot {
  /** How many transitions were due when it was taken, as it still sees it: what is settled since is kept for it. */
  due(): Promise<number>;
  end(): Promise<void>;
}

/** An open REPEATABLE READ transaction: a long report, or a dump. No vacuum removes what it may still see. */
export async function openOldSnapshot(databaseUrl: string): Promise<OldSnapshot> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin isolation level repeatable read');
  const due = async (): Promise<number> => {
    const text = 'select count(*)::int as n from payment_inbox.transition where next_at is not null';
    return (await client.query<{ n: number }>(text)).rows[0]?.n ?? 0;
  };
  // The snapshot is taken by the first statement.
  await due();
  return {
    due,
    async end() {
      await client.query('rollback');
      await client.end();
    },
  };
}
