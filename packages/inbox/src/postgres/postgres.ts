import { ConfigurationError } from '@payment-service/core';
import type { ExpectOutcome, StoredExpectation } from '../expectation.ts';
import type { IntakeRecord } from '../intake-record.ts';
import { type Rows, type Session, textOf } from '../session.ts';
import type {
  IntakeOutcome,
  Lane,
  LaneOptions,
  Reservation,
  Stamp,
  Store,
  StoreEngine,
  StoreOptions,
} from '../store.ts';
import { type Tables, tablesNamed } from '../tables.ts';
import { runBody } from '../transaction-body.ts';
import { TransactionGuard } from '../transaction-guard.ts';
import { Connections } from './connections.ts';
import { databaseName } from './database-name.ts';
import { checkDurability } from './durability.ts';
import { SNAPSHOT_REFUSED } from './expect-function.ts';
import { beginFor, merchantTransaction } from './merchant-transaction.ts';
import { migrate } from './migrations.ts';
import { PostgresLane } from './postgres-lane.ts';
import type { PostgresPool, PostgresTransaction } from './postgres-pool.ts';
import { receiveGroup } from './receive-group.ts';
import { reserveConnections } from './reserve-connections.ts';
import { StartCounter } from './start-counter.ts';

/** For what people and schedules ask for, such as counting: longer than a sender of callbacks would wait. */
const OPERATION_MS = 60_000;

/**
 * The store for several machines: any number of receivers and workers on one PostgreSQL database (13 or later).
 *
 * @param pool a pool of the `pg` package. `work()` keeps one connection for each concurrent handler, and one more; inboxes
 * on one pool add up.
 * @param options.schema the schema of the inbox's tables, made when missing. Default `payment_inbox`.
 * @throws {ConfigurationError} when the pool is none, or the schema's name would need quotes.
 *
 * @example
 * const inbox = createInbox({ store: postgres(new pg.Pool({ connectionString: process.env.DATABASE_URL })) });
 */
export function postgres(
  pool: PostgresPool,
  options: { readonly schema?: string | undefined } = {},
): Store<PostgresTransaction> {
  const { schema = 'payment_inbox' } = options;
  if (typeof pool?.connect !== 'function' || typeof pool.on !== 'function') {
    throw new ConfigurationError('pool', "postgres() takes a pool: new Pool(…) of the package 'pg'.");
  }
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_')) {
    throw new ConfigurationError('schema', 'schema must be a plain lower-case name, such as payment_inbox.');
  }
  return Object.freeze({
    name: 'postgres',
    open: (open: StoreOptions) => new PostgresEngine(pool, schema, open),
  });
}

class PostgresEngine implements StoreEngine<PostgresTransaction> {
  readonly tables: Tables;
  /** A second one is for when the first is full: fewer, larger groups cost the server less. */
  readonly intakeLanes = 2;
  readonly session: Session;
  readonly briefSession: Session;
  readonly #pool: PostgresPool;
  readonly #connections: Connections;
  readonly #schema: string;
  readonly #options: StoreOptions;
  readonly #onPoolError: (error: Error) => void;
  readonly #starts: StartCounter;

  constructor(pool: PostgresPool, schema: string, options: StoreOptions) {
    this.tables = tablesNamed(`${schema}.`);
    this.#pool = pool;
    this.#connections = new Connections(pool);
    this.#starts = new StartCounter(this.#connections, this.tables.start, options.storeTimeoutMs);
    this.#schema = schema;
    this.#options = options;
    this.session = this.#sessionWithin(OPERATION_MS);
    this.briefSession = this.#sessionWithin(options.storeTimeoutMs);
    // A pool without a listener ends the process when the server goes away.
    this.#onPoolError = (error) => options.onConnectionLost(String(Reflect.get(error, 'code') ?? error.name));
    pool.on('error', this.#onPoolError);
  }

  lockRows(alias: string): string {
    return `for update of ${alias} skip locked`;
  }

  /** A statement in a transaction: what is given up, the server gives up as well, and does not commit later. */
  #sessionWithin(ms: number): Session {
    return { query: (text, values) => this.transaction((session) => session.query(text, values), ms) };
  }

  get identity(): readonly string[] {
    return ['postgres', databaseName(this.#pool), this.#schema];
  }

  async prepare(): Promise<void> {
    await this.#connections.transaction(OPERATION_MS, async (session, client) => {
      await checkDurability(session);
      await migrate(client, this.#schema, this.#options.now());
    });
  }

  receive(records: readonly IntakeRecord[], account: string): Promise<readonly IntakeOutcome[]> {
    const { storeTimeoutMs } = this.#options;
    return this.#connections.during(storeTimeoutMs, (client) =>
      // A little earlier than here, so that the server says so and the connection can be kept.
      receiveGroup(client, this.#schema, account, records, Math.ceil(storeTimeoutMs * 0.9)),
    );
  }

  transaction<T>(body: (session: Session) => Promise<T>, timeoutMs: number = OPERATION_MS): Promise<T> {
    return this.#connections.transaction(timeoutMs, body);
  }

  merchantTransaction<T>(body: (tx: PostgresTransaction) => T | Promise<T>, timeoutMs: number): Promise<T> {
    const { storeTimeoutMs } = this.#options;
    return this.#connections.merchantTransaction(storeTimeoutMs, (client) => {
      const guard = new TransactionGuard();
      const tx = merchantTransaction(client, guard);
      return {
        begin: beginFor(timeoutMs),
        body: () => runBody(() => body(tx), { guard, timeoutMs, who: 'The body of transaction()' }),
        idle: () => guard.idle(),
        beginMs: storeTimeoutMs,
        // Deferred constraints are checked by it, for as long as any statement may take.
        commitMs: timeoutMs + storeTimeoutMs,
        rollbackMs: storeTimeoutMs,
      };
    });
  }

  expect(
    expectation: StoredExpectation,
    stamp: Stamp,
    tx: PostgresTransaction | undefined,
  ): Promise<ExpectOutcome> {
    return this.expectIn(tx === undefined ? this.session : joined(tx), expectation, stamp);
  }

  async expectIn(session: Session, expectation: StoredExpectation, stamp: Stamp): Promise<ExpectOutcome> {
    const { referenceKey, merchantReference, currency, amount, compare, deadlineAt } = expectation;
    const { rows } = await session
      .query(`select ${this.#schema}.expect($1, $2, $3, $4, $5, $6, $7, $8) as outcome`, [
        referenceKey,
        stamp.account,
        merchantReference,
        currency,
        amount,
        compare,
        deadlineAt,
        stamp.now,
      ])
      .catch(explainSnapshot);
    return textOf(rows[0] ?? {}, 'outcome') as ExpectOutcome;
  }

  /** Another connection writes. What it adds or tidies is not locked by expect(), the one thing that a tx writes. */
  checkCaller(): void {}

  reserveLanes(concurrency: number): Reservation {
    const giveConnectionsBack = reserveConnections(this.#pool, concurrency);
    return {
      lanes: concurrency,
      release: () => {
        this.#starts.close();
        giveConnectionsBack();
      },
    };
  }

  async openLane(options: LaneOptions): Promise<Lane<PostgresTransaction>> {
    const { handlerTimeoutMs, storeTimeoutMs } = options;
    const client = await this.#connections.keep(storeTimeoutMs, handlerTimeoutMs + storeTimeoutMs);
    return new PostgresLane(client, this.#schema, this.#starts, options);
  }

  async close(): Promise<void> {
    this.#starts.close();
    this.#pool.removeListener('error', this.#onPoolError);
  }
}

function explainSnapshot(error: unknown): never {
  if (Object(error).code !== SNAPSHOT_REFUSED) throw error;
  throw new ConfigurationError(
    'tx',
    'expect() takes part in READ COMMITTED transactions only: in another one it would not see a callback that came ' +
      'after the transaction began, and the payment would wait for ever. Begin it with ISOLATION LEVEL READ COMMITTED.',
    { cause: error },
  );
}

/** The inbox's statements in the merchant's transaction. They answer with texts, which no parser changes. */
function joined(tx: PostgresTransaction): Session {
  return {
    async query(text, values = []): Promise<Rows> {
      const { rows, rowCount } = await tx.query(text, [...values]);
      return { rows: rows as Rows['rows'], rowCount: rowCount ?? 0 };
    },
  };
}
