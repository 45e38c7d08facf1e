import type { Session } from '../session.ts';
import { afterMs, TimedOut, within } from '../within.ts';
import { type Attempt, attempt, ConnectionLost, type Outcome } from './attempt.ts';
import type { PostgresClient, PostgresPool } from './postgres-pool.ts';
import { postgresSession } from './postgres-session.ts';
import { serverLimits } from './server-limits.ts';

/** Connections of the merchant's pool. One that fails or does not answer in time is not used again. */
export class Connections {
  readonly #pool: PostgresPool;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /**
   * Lends a connection for at most `ms` milliseconds, the wait for it included.
   *
   * @param use runs once more, on another connection, when this one has lost its prepared statements: nothing of the
   * first run is kept then. The second argument is how many milliseconds are left.
   */
  async during<T>(ms: number, use: (client: PostgresClient, leftMs: number) => Promise<T>): Promise<T> {
    const deadline = new Deadline(ms);
    const useOnce = async (): Promise<T> => {
      const client = await this.#connect(deadline);
      return lend(client, () => deadline.race(use(client, deadline.leftMs)));
    };
    try {
      return await useOnce().catch((error: unknown) => {
        if (!isOfPreparedStatements(error)) throw error;
        return useOnce();
      });
    } finally {
      deadline.end();
    }
  }

  /**
   * The inbox's own transaction, within `ms` milliseconds. Nothing of it is kept when it is given up before the commit.
   *
   * @param body writes through its session and nowhere else: it may run twice, as in `during()`.
   */
  async transaction<T>(
    ms: number,
    body: (session: Session, client: PostgresClient) => Promise<T>,
  ): Promise<T> {
    return resultOf(
      this.during(ms, async (client, leftMs) => {
        const outcome = await attempt(client, {
          begin: `begin isolation level read committed; ${serverLimits(leftMs, 'local')}`,
          body: () => body(postgresSession(client), client),
          beginMs: leftMs,
          commitMs: leftMs,
          rollbackMs: leftMs,
        });
        // Rolled back, but the connection would fail the next one as well.
        if (!outcome.isCommitted && isOfPreparedStatements(outcome.error)) throw outcome.error;
        return outcome;
      }),
    );
  }

  /** The merchant's: the body bounds itself, and a connection is waited for `ms` milliseconds. */
  async merchantTransaction<T>(ms: number, attemptOn: (client: PostgresClient) => Attempt<T>): Promise<T> {
    const client = await this.#take(ms);
    return resultOf(lend(client, () => attempt(client, attemptOn(client))));
  }

  /**
   * A connection to keep, which is waited for `ms` milliseconds. The caller gives it back, as a broken one: nobody else
   * gets its limits.
   *
   * @param patienceMs how long the caller waits for a statement. A transaction may have limits of its own.
   */
  async keep(ms: number, patienceMs: number): Promise<PostgresClient> {
    const client = await this.#take(ms);
    try {
      await within(ms, client.query(serverLimits(patienceMs, 'session')));
      return client;
    } catch (error) {
      giveBack(client, true);
      throw error;
    }
  }

  async #take(ms: number): Promise<PostgresClient> {
    const deadline = new Deadline(ms);
    try {
      return await this.#connect(deadline);
    } finally {
      deadline.end();
    }
  }

  async #connect(deadline: Deadline): Promise<PostgresClient> {
    let isWaitedFor = true;
    const connecting = new Promise<PostgresClient>((resolve, reject) => {
      // Not the promise of the pool: a server that ends at this moment may report it in the same packet, before whoever
      // awaits a promise could listen, and an error that nobody listens to ends the process.
      this.#pool.connect((error, client) => {
        if (client === undefined) return reject(error);
        client.on('error', ignoreError);
        if (isWaitedFor) resolve(client);
        else giveBack(client, false);
      });
    });
    try {
      return await deadline.race(connecting);
    } catch (error) {
      // The connection may still come, for nobody; that it cannot come has been said already.
      isWaitedFor = false;
      connecting.then(
        (late) => giveBack(late, false),
        () => undefined,
      );
      throw error;
    }
  }
}

/** A broken connection shows in the next statement. */
function ignoreError(): void {}

/** @param isBroken true when the connection must not be used again; whatever is open on it ends with it. */
export function giveBack(client: PostgresClient, isBroken: boolean): void {
  client.removeListener('error', ignoreError);
  client.release(isBroken);
}

/** @throws what the body threw, whatever became of the rollback. */
async function resultOf<T>(attempted: Promise<Outcome<T>>): Promise<T> {
  const outcome = await attempted.catch((error: unknown) => {
    throw error instanceof ConnectionLost ? error.cause : error;
  });
  if (outcome.isCommitted) return outcome.result;
  throw outcome.error;
}

async function lend<T>(client: PostgresClient, use: () => Promise<T>): Promise<T> {
  let isSound = false;
  try {
    const result = await use();
    isSound = true;
    return result;
  } catch (error) {
    isSound = isStatementError(error);
    throw error;
  } finally {
    giveBack(client, !isSound);
  }
}

/** The server answered, and the connection is as good as before: SQLSTATEs other than those of a lost connection. */
function isStatementError(error: unknown): boolean {
  const code = codeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P|53|25)/.test(code) && !isOfPreparedStatements(error);
}

/**
 * The connection does not have the prepared statements that its client knows: somebody ran DISCARD ALL or DEALLOCATE ALL
 * on it (26000), a pooler has put another server session behind it (26000, 42P05), or a table has changed since (0A000).
 */
function isOfPreparedStatements(error: unknown): boolean {
  return ['26000', '42P05', '0A000'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : '';
}

class Deadline {
  readonly #stop: () => void;
  readonly #passed: Promise<never>;
  readonly #at: number;

  constructor(ms: number) {
    let fail: (error: Error) => void = () => undefined;
    this.#passed = new Promise((_resolve, reject) => {
      fail = reject;
    });
    this.#passed.catch(() => undefined);
    this.#at = performance.now() + ms;
    this.#stop = afterMs(ms, () => fail(new TimedOut()));
  }

  /** At least 1. */
  get leftMs(): number {
    return Math.max(1, Math.floor(this.#at - performance.now()));
  }

  race<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#passed]);
  }

  end(): void {
    this.#stop();
  }
}
