/** Executes the requests of `program.ts`. */
import { EventEmitter, on, once } from 'node:events';
import type { VerifiedCallback } from '@payment-service/core';
import { createInbox, type InboxEvent, postgres, type Store, sqlite } from '@payment-service/inbox';
import pg from 'pg';
import { answerQuestions } from '../measure/child.ts';
import { monotonicMs } from '../measure/measure.ts';
import type { ProgramRequest, Way } from './program.ts';
import { openGraphile } from './queues.ts';
import { serve } from './serve.ts';

interface Program {
  keep(callback: VerifiedCallback): Promise<unknown>;
  expect(references: readonly string[]): Promise<unknown>;
  work(): Promise<unknown>;
}

const EFFECT = 'insert into merchant_effect values ($1, $2)';
const CONCURRENCY = 4;

const committed = new Map<string, number>();
const commits = new EventEmitter();
let program: Program;

answerQuestions((request: ProgramRequest) => answer(request));

async function answer(request: ProgramRequest): Promise<unknown> {
  switch (request.kind) {
    case 'open':
      program = await openProgram(request.way, request.at);
      return request.receives ? serve(program) : undefined;
    case 'expect':
      return void (await program.expect(request.references));
    case 'settled':
      return settled(request.references);
    case 'work':
      // Not awaited: it works while it answers other requests.
      return void program.work();
  }
}

/** In milliseconds of the machine's monotonic clock, which all processes share, in the order of the references. */
async function settled(references: readonly string[]): Promise<readonly number[]> {
  while (!references.every((reference) => committed.has(reference))) await once(commits, 'commit');
  return references.map((reference) => committed.get(reference) ?? Number.NaN);
}

function isCommitted(reference: string): void {
  if (committed.has(reference)) throw new Error(`The effect of ${reference} was committed twice.`);
  committed.set(reference, monotonicMs());
  commits.emit('commit');
}

async function openProgram(way: Way, at: string): Promise<Program> {
  if (way === 'SQLite') {
    const store = sqlite(at);
    return inboxProgram(store, (tx, values) => tx.query(EFFECT.replaceAll(/\$\d/g, '?'), values));
  }
  if (way === 'Knex') {
    const [{ knex }, { default: connectKnex }] = await Promise.all([
      import('@payment-service/inbox/knex'),
      import('knex'),
    ]);
    const database = connectKnex({ client: 'pg', connection: at });
    return inboxProgram(knex(database), (tx, [id, amount]) =>
      tx('merchant_effect').insert({ transition_id: id, amount }),
    );
  }
  // Connections are kept, so that none is opened during a measurement.
  const pool = new pg.Pool({ connectionString: at, idleTimeoutMillis: 0 });
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  if (way === 'graphile-worker') return graphileProgram(pool);
  if (way === 'floor') return floorProgram(pool, new pg.Client({ connectionString: at }));
  const { listen, ...store } = postgres(pool);
  const ears = way === 'pg' && listen !== undefined ? { listen } : {};
  return inboxProgram({ ...store, ...ears }, (tx, values) => tx.query(EFFECT, values));
}

async function inboxProgram<Tx>(
  store: Store<Tx>,
  apply: (tx: Tx, values: string[]) => PromiseLike<unknown>,
): Promise<Program> {
  const references = new Map<string, string>();
  const onEvent = (event: InboxEvent): void => {
    if (event.name === 'transition.settled') isCommitted(references.get(event.transitionId) ?? '');
  };
  const inbox = createInbox({ store, onEvent });
  await inbox.ready();
  inbox.handle(
    'paid',
    async ({
      tx,
      id: transitionId,
      signed,
      payment: {
        settled: { amount },
      },
    }) => {
      references.set(transitionId, signed.merchant_reference);
      await apply(tx, [signed.merchant_reference, amount]);
    },
  );
  return {
    keep: inbox.route.onCallback,
    expect: (given) =>
      inbox.transaction(async (tx) => {
        for (const merchant_reference of given)
          await inbox.expect({ merchant_reference, currency: 'UGX', amount: '500' }, { tx });
      }),
    work: () => inbox.work({ signal: new AbortController().signal, concurrency: CONCURRENCY }),
  };
}

/** The end of the effect's transaction counts; the job is completed later. */
async function graphileProgram(pool: pg.Pool): Promise<Program> {
  const graphile = await openGraphile(pool);
  return {
    keep: ({ signed, raw }) => graphile.addJob({ reference: signed.merchant_reference, body: String(raw) }),
    expect: async () => undefined,
    work: () =>
      graphile.work(CONCURRENCY, 'reference', async (client, given) => {
        const reference = String(given);
        await client.query('begin');
        await client.query({ name: 'effect', text: EFFECT, values: [reference, '500'] });
        await client.query('commit');
        isCommitted(reference);
      }),
  };
}

/** The minimum for any program: a commit to keep, a NOTIFY after it, a start that is not synced, and a commit for effect and record. */
async function floorProgram(pool: pg.Pool, listener: pg.Client): Promise<Program> {
  await pool.query(`create table if not exists payment (id bigint generated always as identity primary key,
    reference text not null unique, body text not null, attempts integer not null default 0, next_at timestamptz default now())`);
  const keep = 'insert into payment (reference, body) values ($1, $2) on conflict do nothing returning id';
  const start = `update payment set attempts = attempts + 1, next_at = now() + interval '30 s' where id = $1
    returning reference, set_config('synchronous_commit', 'off', true)`;
  const settle = 'update payment set next_at = null where id = $1 and next_at is not null';
  const apply = async (id: string): Promise<void> => {
    const { rows } = await pool.query<{ reference: string }>({ name: 'start', text: start, values: [id] });
    const reference = rows[0]?.reference ?? '';
    const client = await pool.connect();
    await client.query('begin');
    await client.query({ name: 'effect', text: EFFECT, values: [reference, '500'] });
    await client.query({ name: 'settle', text: settle, values: [id] });
    await client.query('commit');
    client.release();
    isCommitted(reference);
  };
  return {
    async keep({ signed, raw }) {
      const values = [signed.merchant_reference, String(raw)];
      const { rows } = await pool.query<{ id: string }>({ name: 'keep', text: keep, values });
      await pool.query({ name: 'notify', text: `select pg_notify('payment', $1)`, values: [rows[0]?.id] });
    },
    expect: async () => undefined,
    async work() {
      await listener.connect();
      const told = on(listener, 'notification');
      await listener.query('listen payment');
      const lane = async (): Promise<void> => {
        for await (const [{ payload }] of told) await apply(payload);
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, lane));
    },
  };
}
