/** The two queues on PostgreSQL that a team might use instead of the inbox, each loaded where it is used. */
import type { Runner } from 'graphile-worker';
import type pg from 'pg';
import type { PgBoss } from 'pg-boss';

/** With a queue, and only what send() and work() need: no background tasks. */
export async function startPgBoss(connectionString: string, queue: string, max: number): Promise<PgBoss> {
  const { PgBoss: Boss } = await import('pg-boss');
  const boss = new Boss({ connectionString, max, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(queue);
  return boss;
}

export interface Graphile {
  /** Adds a job for `apply`. */
  addJob(payload: object): Promise<unknown>;
  /**
   * @param apply receives the member of the payload that it names.
   * @param batch how many jobs one statement fetches; then jobs are also completed together. @default each alone
   */
  work(concurrency: number, member: string, apply: Apply, batch?: number): Promise<Runner>;
}
type Apply = (client: pg.PoolClient, value: unknown) => Promise<void>;

/** With its tables, and without its logs. */
export async function openGraphile(pgPool: pg.Pool): Promise<Graphile> {
  const { Logger, makeWorkerUtils, run, runMigrations } = await import('graphile-worker');
  const shared = { pgPool, logger: new Logger(() => () => undefined) };
  await runMigrations(shared);
  const { addJob } = await makeWorkerUtils(shared);
  return {
    addJob: (payload) => addJob('apply', payload),
    work: (concurrency, member, apply, batch) =>
      run({
        ...shared,
        ...(batch && { preset: { worker: { localQueue: { size: batch }, completeJobBatchDelay: 0 } } }),
        concurrency,
        noHandleSignals: true,
        taskList: {
          apply: (payload, { withPgClient }) =>
            withPgClient((client) => apply(client, Reflect.get(Object(payload), member))),
        },
      }),
  };
}
