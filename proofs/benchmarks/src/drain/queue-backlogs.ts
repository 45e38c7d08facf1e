import { randomUUID } from 'node:crypto';
import { type Beside, sendBeside } from '@payment-service/durability/load/beside.ts';
import { createDatabase, databaseUrl } from '@payment-service/durability/load/postgres.ts';
import { insertJobs, openGraphile, startPgBoss } from '@payment-service/durability/load/queues.ts';
import { atTheEnd } from '@payment-service/durability/measure/program.ts';
import { applyWith, EFFECT } from './appliers.ts';

/** A backlog of a queue, at the setting at which it drains fastest. */
export interface QueueBacklog {
  /** Adds what is missing to its size. */
  fill(): Promise<void>;
  /** Works on it while new jobs are added, and ends with them. */
  work(beside: Beside): Promise<void>;
}

/** As in the inbox by default. */
const CONCURRENCY = 4;
const CONNECTIONS = 10;
const QUEUE = 'apply';

export async function graphileBacklog(serverUrl: string, size: number): Promise<QueueBacklog> {
  const pool = await createDatabase(serverUrl, `behind_graphile_${size}`, CONNECTIONS);
  atTheEnd(() => pool.end());
  const graphile = await openGraphile(pool);
  return {
    async fill() {
      const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from graphile_worker.jobs');
      await graphile.addJobs(Math.max(0, size - (rows[0]?.n ?? 0)));
    },
    async work(beside) {
      const ids = newIds(beside);
      const runner = await graphile.work(
        CONCURRENCY,
        'id',
        async (client, id) => {
          await applyWith(client, id);
          sending.has(String(id));
        },
        50,
      );
      const sending = sendBeside(beside, ids, (index) => graphile.addJob({ id: ids[index] }));
      await sending.over;
      await runner.stop();
      sending.end();
    },
  };
}

/** An effect counts when its handler ends, just before the commit of its batch. */
export async function pgBossBacklog(serverUrl: string, size: number): Promise<QueueBacklog> {
  const name = `behind_boss_${size}`;
  const pool = await createDatabase(serverUrl, name, 1);
  const boss = await startPgBoss(databaseUrl(serverUrl, name), QUEUE, CONNECTIONS, true);
  atTheEnd(async () => {
    await boss.stop({ graceful: false });
    await pool.end();
  });
  return {
    async fill() {
      const waiting = `select count(*)::int as n from pgboss.job where state = 'created'`;
      const { rows } = await pool.query<{ n: number }>(waiting);
      for (let missing = size - (rows[0]?.n ?? 0); missing > 0; missing -= 10_000)
        await insertJobs(boss, QUEUE, Math.min(missing, 10_000));
      await pool.query('analyze');
    },
    async work(beside) {
      const ids = newIds(beside);
      const options = { batchSize: 10, localConcurrency: CONCURRENCY, burstWhenBatchFull: true };
      await boss.work(QUEUE, { ...options, transactional: true }, async (jobs, tx) => {
        for (const { data } of jobs) {
          const id = String(Reflect.get(Object(data), 'id'));
          await tx.executeSql(EFFECT, [id, '500']);
          sending.has(id);
        }
      });
      const sending = sendBeside(beside, ids, (index) => boss.send(QUEUE, { id: ids[index] }));
      await sending.over;
      await boss.offWork(QUEUE, { wait: true });
      sending.end();
    },
  };
}

function newIds({ count }: Beside): readonly string[] {
  return Array.from({ length: count }, () => randomUUID());
}
