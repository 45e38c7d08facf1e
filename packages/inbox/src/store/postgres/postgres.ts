import { ConfigurationError } from '@payment-service/core';
import { checkArgument, checkOptions, type OptionRule } from '@payment-service/core/internal';
import { STRING } from '../../option-rules.ts';
import { failureCode } from '../../reporting/events.ts';
import { TimedOut, within } from '../../time.ts';
import {
  type Call,
  NotCommitted,
  NotPrepared,
  type Row,
  type SqlValue,
  type Statement,
  type Store,
} from '../store.ts';
import { connect, ignoreError, type PostgresClient, type PostgresPool, STATEMENT_MS } from './connection.ts';
import { checkDurability } from './durability.ts';
import { listenThrough } from './listener.ts';
import { canPipe, pipe, preparedName } from './pipeline.ts';

/** How long a statement outside a handler, or the end of a transaction, may take. */
export const ANSWER_MS = 20_000;
/** How long BEGIN may take. It needs no lock, so it detects a connection that no longer answers. */
const BEGIN_MS = 3000;

/**
 * The store for several machines: any number of receivers and workers on one PostgreSQL database (13 or later). A handler gets
 * the `pg` client in whose transaction it runs.
 *
 * @param pool A pool of the package `pg`. Each running handler uses one connection, and the inbox two more.
 * @param options.schema The schema of the inbox's tables, created if missing. @default 'payment_inbox'
 * @throws {ConfigurationError} If it is not a pool, or the schema's name would need quotes.
 *
 * @example
 * const inbox = createInbox({ store: postgres(new pg.Pool({ connectionString: process.env.DATABASE_URL })) });
 */
export function postgres<Client extends PostgresClient>(
  pool: PostgresPool<Client>,
  options: { readonly schema?: string | undefined } = {},
): Store<Client> {
  checkArgument('postgres()', 'pool', pool, POOL);
  checkOptions('postgres()', options, { schema: STRING });
  const prefix = schemaPrefix(options.schema);
  /** Clients whose transaction was committed together with its last statement. */
  const committed = new WeakSet<PostgresClient>();
  /** False behind a pooler that may run each transaction on a different connection. */
  let canPrepare = true;
  const refusal = (error: unknown): unknown => {
    if (!['26000', '42P05'].includes(failureCode(error))) return error;
    canPrepare = false;
    return new NotPrepared({ cause: error });
  };
  const run = async (
    client: Client,
    { text, isPrepared }: Statement,
    values: readonly SqlValue[],
  ): Promise<Row[]> => {
    const sent =
      isPrepared && canPrepare
        ? client.query({ name: preparedName(text), text, values: [...values] })
        : client.query(text, [...values]);
    const { rows, command } = await sent.catch((error: unknown) => {
      throw refusal(error);
    });
    // A statement that the body did not wait for has failed.
    if (text === COMMIT.statement.text && command === 'ROLLBACK') throw new NotCommitted();
    return rows;
  };
  /** In one message if the client can do that. */
  const send = async (client: Client, calls: readonly Call[]): Promise<readonly (readonly Row[])[]> => {
    if (canPipe(client))
      return pipe(client, calls, canPrepare).catch((error: unknown) => {
        throw refusal(error);
      });
    const results: Row[][] = [];
    for (const { statement, values } of calls) results.push(await run(client, statement, values));
    return results;
  };
  /** A statement that is a transaction of its own may run again if it had no effect. */
  const runAlone = async (
    client: Client,
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<Row[]> => {
    try {
      return await run(client, statement, values);
    } catch (error) {
      if (error instanceof NotPrepared) return run(client, { ...statement, isPrepared: false }, values);
      if (failureCode(error) !== '40001') throw error;
      // Another transaction was faster, and the connections default to an isolation level that reports it.
      await client.query(READ_COMMITTED);
      const rows = await run(client, statement, values);
      await client.query(COMMIT.statement.text);
      return rows;
    }
  };
  /** In one message with the statement after it, unless statements do not stay on their connections. */
  const runBefore = async (client: Client, call: Call, after: Call): Promise<readonly Row[]> => {
    if (canPrepare && canPipe(client)) {
      const calls = [begin([call]), call, COMMIT];
      const [, rows = []] = await pipe(client, calls, canPrepare, after).catch((error: unknown) => {
        throw refusal(error);
      });
      return rows;
    }
    const rows = await runAlone(client, call.statement, call.values);
    run(client, after.statement, after.values).catch(() => undefined);
    return rows;
  };
  const most = pool.options?.max ?? 10;
  const store: Store<Client> = {
    dialect: 'postgres',
    prefix,
    // One for the group of callbacks that is being kept, and one for the listener.
    maxConcurrency: Math.max(1, most - 2),
    runsAfter: true,
    async query(statement, values, tx, limitMs, after) {
      if (tx === undefined && after !== undefined) {
        const act = (client: Client): Promise<readonly Row[]> =>
          committing(client, runBefore(client, { statement, values }, after), limitMs);
        return lend(pool, act).catch((error: unknown) => {
          if (!(error instanceof NotPrepared)) throw error;
          return lend(pool, act); // It had no effect, and nothing is prepared from now on.
        });
      }
      if (tx === undefined)
        return lend(pool, (client) => committing(client, runAlone(client, statement, values), limitMs));
      if (!statement.isLast) return within(STATEMENT_MS, run(tx, statement, values));
      const [rows = []] = await committing(tx, send(tx, [{ statement, values }, COMMIT]));
      committed.add(tx);
      return rows;
    },
    transaction: (body, { entry = [], isMerchants = false } = {}) =>
      lend(pool, async (client) => {
        committed.delete(client); // The error of a body that failed after its commit.
        const limitMs = entry.length > 0 ? STATEMENT_MS : BEGIN_MS;
        const [, ...entered] = await within(limitMs, send(client, [begin(entry, isMerchants), ...entry]));
        const result = await body(client, entered);
        if (!committed.delete(client))
          await committing(client, run(client, { text: COMMIT.statement.text }, []));
        return result;
      }),
    ...listenThrough(pool, prefix),
    check: () => checkDurability((text) => store.query({ text }, [])),
  };
  return Object.freeze(store);
}

/** @throws {ConfigurationError} */
export function schemaPrefix(schema: string = 'payment_inbox'): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith('pg_')) {
    throw new ConfigurationError('schema', 'schema must be a plain lower-case name, such as payment_inbox.');
  }
  return `${schema}.`;
}

const POOL: OptionRule = [
  // A client has connect() as well, and one connection.
  (pool) => typeof Object(pool).connect === 'function' && Object(pool).connectionParameters === undefined,
  "a pool: new Pool(…) of the package 'pg'",
];

/** Prepared only with others: a pooler that refuses it then refuses an attempt, which is taken back. */
function begin(entry: readonly Call[], isMerchants = false): Call {
  const isPrepared = entry.some(({ statement }) => statement.isPrepared);
  const text = isMerchants ? 'begin' : READ_COMMITTED;
  return { statement: { text, isPrepared }, values: [] };
}

const READ_COMMITTED = 'begin isolation level read committed';
const COMMIT: Call = { statement: { text: 'commit', isPrepared: true }, values: [] };

/**
 * PostgreSQL treats a cancelled wait for a synchronous standby as a commit, with a notice that it exists only on the primary.
 */
async function committing<T>(client: PostgresClient, act: Promise<T>, limitMs = ANSWER_MS): Promise<T> {
  let isOnlyHere = false;
  const onNotice = (notice: unknown): void => {
    isOnlyHere ||= notice instanceof Object && Reflect.get(notice, 'routine') === 'SyncRepWaitForLSN';
  };
  client.on('notice', onNotice);
  const result = await within(limitMs, act).finally(() => client.removeListener('notice', onNotice));
  if (!isOnlyHere) return result;
  const message = 'The wait for the standby was cancelled, so this commit may be lost with the primary.';
  throw Object.assign(new Error(message), { code: 'STANDBY_WAIT_CANCELLED' });
}

/** Lends a connection. A connection that fails or does not answer in time is not used again. */
async function lend<Client extends PostgresClient, T>(
  pool: PostgresPool<Client>,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await connect(pool);
  let isSound = true;
  try {
    return await use(client);
  } catch (error) {
    // After a timeout the body may still use the client. Without a transaction, ROLLBACK only warns.
    isSound = !(error instanceof TimedOut) && isStatementError(error);
    isSound &&= await within(ANSWER_MS, client.query('rollback')).then(Boolean, () => false);
    throw error;
  } finally {
    client.removeListener('error', ignoreError);
    client.release(!isSound);
  }
}

/** The connection is still usable: the server answered, or the error is the body's own. */
function isStatementError(error: unknown): boolean {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code !== 'string' || (/^[0-9A-Z]{5}$/.test(code) && !/^(08|57P|53|25P03|26|EP)/.test(code));
}
