/** A program of the merchant's that receives callbacks, applies them, or both. It tells when each effect was committed. */

import type { VerifiedCallback } from '@payment-service/core';
import { createInbox, type InboxEvent, postgres, type Store, sqlite } from '@payment-service/inbox';
import pg from 'pg';
import { serve } from '../load/serve.ts';
import { answerQuestions } from '../measure/child.ts';

export type Way = 'pg' | 'pg, not listening' | 'Knex' | 'SQLite' | 'graphile-worker';

export type LatencyRequest =
  /** `at`: the address of the database, or the path of the file. */
  | {
      readonly kind: 'open';
      readonly way: Way;
      readonly at: string;
      readonly receives: boolean;
      readonly works: boolean;
    }
  | { readonly kind: 'expect'; readonly references: readonly string[] }
  /** Waits until the effects of all of them are committed. */
  | { readonly kind: 'settled'; readonly references: readonly string[] };

interface Program {
  keep(callback: VerifiedCallback): Promise<unknown>;
  expect(references: readonly string[]): Promise<unknown>;
  work(): void;
}

const EFFECT = 'insert into merchant_effect values ($1, $2)';
const CONCURRENCY = 4;

const committed = new Map<string, number>();
let onCommitted: () => void = () => undefined;
let program: Program;

/** Of `settled`: in milliseconds of the machine's monotonic clock, which all processes share, in the order of the references. */
answerQuestions(async (request: LatencyRequest): Promise<number | readonly number[] | undefined> => {
  if (request.kind === 'open') {
    program = await openProgram(request.way, request.at);
    if (request.works) program.work();
    return request.receives ? serve(program) : undefined;
  }
  if (request.kind === 'expect') return void (await program.expect(request.references));
  const { references } = request;
  await new Promise<void>((resolve) => {
    onCommitted = () => (references.every((reference) => committed.has(reference)) ? resolve() : undefined);
    onCommitted();
  });
  return references.map((reference) => committed.get(reference) ?? Number.NaN);
});

function isCommitted(reference: string): void {
  if (committed.has(reference)) throw new Error(`The effect of ${reference} was committed twice.`);
  committed.set(reference, Number(process.hrtime.bigint()) / 1e6);
  onCommitted();
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
  const pool = new pg.Pool({ connectionString: at });
  for (const event of ['error', 'connect'] as const)
    pool.on(event, (client: unknown) => client instanceof pg.Client && client.on('error', () => undefined));
  if (way === 'graphile-worker') return graphileProgram(pool);
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
  inbox.handle(async ({ tx, transitionId, signed, settled }) => {
    references.set(transitionId, signed.merchant_reference);
    await apply(tx, [signed.merchant_reference, settled.amount]);
  });
  return {
    keep: inbox.receive,
    expect: (given) =>
      inbox.transaction(async (tx) => {
        for (const merchant_reference of given)
          await inbox.expect({ merchant_reference, currency: 'UGX', amount: '500' }, { tx });
      }),
    work: () => void inbox.work({ signal: new AbortController().signal, concurrency: CONCURRENCY }),
  };
}

/** The end of the effect's transaction counts: that of the job is recorded later. */
async function graphileProgram(pool: pg.Pool): Promise<Program> {
  const { Logger, makeWorkerUtils, run, runMigrations } = await import('graphile-worker');
  const shared = { pgPool: pool, logger: new Logger(() => () => undefined) };
  await runMigrations(shared);
  const { addJob } = await makeWorkerUtils(shared);
  const apply = async (pgClient: pg.PoolClient, reference: string): Promise<void> => {
    await pgClient.query('begin');
    await pgClient.query({ name: 'effect', text: EFFECT, values: [reference, '500'] });
    await pgClient.query('commit');
    isCommitted(reference);
  };
  return {
    keep: ({ signed, raw }) => addJob('apply', { reference: signed.merchant_reference, body: String(raw) }),
    expect: async () => undefined,
    work() {
      void run({
        ...shared,
        concurrency: CONCURRENCY,
        noHandleSignals: true,
        taskList: {
          apply: (payload, { withPgClient }) =>
            withPgClient((client) => apply(client, String(Reflect.get(Object(payload), 'reference')))),
        },
      });
    },
  };
}
