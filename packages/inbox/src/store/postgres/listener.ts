import { pause, within } from '../../time.ts';
import type { Store } from '../store.ts';
import { connect, ignoreError, type PostgresClient, type PostgresPool, STATEMENT_MS } from './connection.ts';

/** A smaller pool has no connection left beside a handler and the callbacks that are being kept. */
const MIN_CONNECTIONS = 3;

/**
 * Listens through a connection of the pool; with a small pool there is no listener, and the poll finds what is due.
 *
 * @param prefix The prefix of the tables, by which `doctor` recognizes their listeners.
 */
export function listenThrough(pool: PostgresPool, prefix: string): Pick<Store<unknown>, 'listen'> {
  return canListen(pool) ? { listen: listener(pool, prefix) } : {};
}

export function canListen({ options }: PostgresPool): boolean {
  return (options?.max ?? 10) >= MIN_CONNECTIONS;
}

/** Returns the process that runs the statement. */
const WHO = 'select pg_backend_pid() as id';

/**
 * A pooler names its own process when a connection is made, and lends a server connection for each statement: LISTEN would
 * stay behind with other programs. If no process is named, a pooler cannot be detected.
 */
async function isPooled(client: PostgresClient): Promise<boolean> {
  const { rows } = await client.query(WHO);
  return typeof client.processID === 'number' && Number(rows[0]?.['id']) !== client.processID;
}

/** A connection that listens. */
interface Listening {
  /** Resolves when the connection is lost. */
  readonly lost: Promise<unknown>;
  end(): void;
}

/** One connection for all inboxes of the store. Through a pooler there is no listener: the poll finds what is due. */
function listener(pool: PostgresPool, prefix: string): NonNullable<Store<unknown>['listen']> {
  const ears = new Set<{ readonly account: string; readonly onWake: () => void }>();
  let listening: Promise<Listening | undefined> | undefined;
  let pooled = false;
  const hear = (message: unknown): void => {
    const told: unknown = Reflect.get(Object(message), 'payload');
    for (const { account, onWake } of ears) if (account === told) onWake();
  };
  const open = async (): Promise<Listening | undefined> => {
    const client = await connect(pool);
    const { promise: lost, resolve: onLost } = Promise.withResolvers<unknown>();
    const end = (): void => {
      client.removeListener('error', ignoreError);
      client.removeListener('error', onLost);
      client.removeListener('notification', hear);
      client.release(!pooled);
    };
    try {
      pooled = await within(STATEMENT_MS, isPooled(client));
      if (pooled) return void end();
      client.on('error', onLost);
      client.on('notification', hear);
      await within(STATEMENT_MS, client.query(`listen payment_inbox -- ${prefix}`));
      void lost.then(close);
      return { lost, end };
    } catch (error) {
      // A standby refuses it. A client that is never released would prevent the pool from ending.
      end();
      throw error;
    }
  };
  const close = async (): Promise<void> => {
    const closing = listening;
    listening = undefined;
    (await closing?.catch(() => undefined))?.end();
  };
  return async (account, onWake, signal) => {
    const ear = { account, onWake };
    const over = new AbortController();
    ears.add(ear);
    try {
      listening ??= open().catch((error: unknown) => {
        listening = undefined;
        throw error;
      });
      const aborted = pause(2 ** 31 - 1, signal, over.signal); // The maximum of a timer.
      const opened = await Promise.race([listening, aborted]);
      if (!opened) return void (pooled && (await aborted));
      onWake(); // For callbacks that were stored before LISTEN.
      await Promise.race([aborted, opened.lost]);
    } finally {
      over.abort();
      ears.delete(ear);
      if (ears.size === 0) await close();
    }
  };
}
