/** Hosts one contender: behind HTTP with verification, and called directly. Idle while it is not its turn. */
import pg from 'pg';
import { freshCallbacks, verified } from '../load/callbacks.ts';
import { inConcert, type Timed } from '../load/in-concert.ts';
import { startPgBoss } from '../load/queues.ts';
import { serve } from '../load/serve.ts';
import { answerQuestions } from '../measure/child.ts';
import type { Contender, ContenderId, Engines } from './contender.ts';
import { grouped, single } from './floor.ts';
import { CONNECTIONS, countRows, inboxPostgres, postgresFloor } from './postgres-contenders.ts';
import { inboxSqlite, sqliteFloor } from './sqlite-contenders.ts';

export type ContenderRequest =
  | { readonly kind: 'open'; readonly id: ContenderId; readonly engines: Engines }
  /** Calls it directly, for so many callbacks, so many at a time. */
  | { readonly kind: 'store'; readonly prefix: string; readonly count: number; readonly concurrency: number }
  | { readonly kind: 'count' }
  | { readonly kind: 'close' };

const LAZY = '-c synchronous_commit=off';
const OPENERS: Readonly<Record<ContenderId, (engines: Engines) => Promise<Contender>>> = {
  inboxPostgres: ({ postgresUrl }) => inboxPostgres(postgresUrl),
  floorPostgres: async ({ postgresUrl }) => single(await postgresFloor(postgresUrl, 'floor')),
  groupedPostgres: async ({ postgresUrl }) => grouped(await postgresFloor(postgresUrl, 'grouped_floor'), 2),
  pgBoss,
  inboxSqlite: ({ folder }) => inboxSqlite(folder),
  floorSqlite: async ({ folder }) => single(await sqliteFloor(folder, 'floor')),
  groupedSqlite: async ({ folder }) => grouped(await sqliteFloor(folder, 'grouped-floor'), 1),
  bullmq,
  lazyPostgres: async ({ postgresUrl }) => single(await postgresFloor(postgresUrl, 'lazy', LAZY)),
  lazySqlite: async ({ folder }) => single(await sqliteFloor(folder, 'lazy', 'normal')),
};

let contender: Contender | undefined;
answerQuestions(async (request: ContenderRequest): Promise<number | Timed | undefined> => {
  if (request.kind === 'open') {
    contender = await OPENERS[request.id](request.engines);
    return serve(contender);
  }
  if (contender === undefined) throw new Error('The contender was asked before it was opened.');
  if (request.kind === 'count') return contender.count();
  if (request.kind === 'close') return void (await contender.close());
  const callbacks = verified(freshCallbacks(request.prefix, request.count));
  return inConcert(callbacks, request.concurrency, contender.keep);
});

async function pgBoss({ postgresUrl }: Engines): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: postgresUrl });
  const boss = await startPgBoss(postgresUrl, 'callbacks', CONNECTIONS);
  return {
    keep: ({ signed, raw }) => boss.send('callbacks', { signed, body: raw }),
    count: () => countRows(pool, 'pgboss.job'),
    async close() {
      await boss.stop({ graceful: false });
      await pool.end();
    },
  };
}

async function bullmq({ redisPort }: Engines): Promise<Contender> {
  if (redisPort === undefined) throw new Error('BullMQ needs a Redis server.');
  const { Queue } = await import('bullmq');
  const queue = new Queue('callbacks', { connection: { host: '127.0.0.1', port: redisPort } });
  await queue.waitUntilReady();
  return {
    keep: ({ signed, raw }) => queue.add('callback', { signed, body: raw }),
    count: () => queue.getWaitingCount(),
    close: () => queue.close(),
  };
}
