/** The two queues on PostgreSQL that a team might use instead of the inbox, each loaded where it is used. */
import { randomUUID } from 'node:crypto';
import type { Runner } from 'graphile-worker';
import type pg from 'pg';
import type { PgBoss } from 'pg-boss';

/**
 * With a queue, and only what send() and work() need: no background tasks.
 *
 * @param notify whether a new job wakes the workers.
 */
export async function startPgBoss(
  connectionString: string,
  queue: string,
  max: number,
  notify = false,
): Promise<PgBoss> {
  const { PgBoss: Boss } = await import('pg-boss');
  const boss = new Boss({
    connectionString,
    max,
    supervise: false,
    schedule: false,
    useListenNotify: notify,
  });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue(queue, { notify });
  return boss;
}

/** Adds many jobs with an `id`. */
export async function insertJobs(boss: PgBoss, queue: string, count: number): Promise<void> {
  const jobs = Array.from({ length: count }, () => {
    const id = randomUUID();
    return { id, data: { id, content: 'x'.repeat(500) } };
  });
  await boss.insert(queue, jobs);
}

export interface Graphile {
  /** Adds a job for `apply`. */
  addJob(payload: object): Promise<unknown>;
  /** Adds many, whose payloads have an `id`; then ANALYZE. */
  addJobs(count: number): Promise<unknown>;
  /**
   * @param apply receives the member of the payload that it names.
   * @param batch how many jobs one statement fetches; then jobs are also completed together. @default each alone
   */
  work(concurrency: number, member: string, apply: Apply, batch?: number): Promise<Runner>;
}
const ADD_JOBS = `select graphile_worker.add_jobs(array(select row('apply', json_build_object('id', n, 'content', repeat('x', 500)),
  null, null, null, null, null, null)::graphile_worker.job_spec from generate_series(1, $1) n))`;
type Apply = (client: pg.PoolClient, value: unknown) => Promise<void>;

/** With its tables, and without its logs. */
export async function openGraphile(pgPool: pg.Pool): Promise<Graphile> {
  const { Logger, makeWorkerUtils, run, runMigrations } = await import('graphile-worker');
  const shared = { pgPool, logger: new Logger(() => () => undefined) };
  await runMigrations(shared);
  const { addJob } = await makeWorkerUtils(shared);
  return {
    addJob: (payload) => addJob('apply', payload),
    async addJobs(count) {
      await pgPool.query(ADD_JOBS, [count]);
      await pgPool.query('analyze');
    },
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
