import type { Session } from '../session.ts';
import type { PostgresClient, PostgresPool } from './postgres-pool.ts';
import { postgresSession } from './postgres-session.ts';

/** No connection or no answer came within the time that was given for it. */
export class DatabaseTimeout extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('The database did not answer in time.');
    this.name = 'DatabaseTimeout';
  }
}

/** Connections of the merchant's pool. One that fails or does not answer in time is not used again. */
export class Connections {
  readonly #pool: PostgresPool;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
  }

  /** Lends a connection for at most `ms` milliseconds, the wait for it included. */
  async during<T>(ms: number, use: (client: PostgresClient) => Promise<T>): Promise<T> {
    const deadline = new Deadline(ms);
    try {
      const client = await this.#connect(deadline);
      return await lend(client, () => deadline.race(use(client)));
    } finally {
      deadline.end();
    }
  }

  async transaction<T>(ms: number, body: (session: Session) => Promise<T>): Promise<T> {
    return this.during(ms, async (client) => {
      await client.query('begin isolation level read committed');
      try {
        const result = await body(postgresSession(client));
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
    });
  }

  /** A connection to keep; the caller releases it. */
  async take(ms: number): Promise<PostgresClient> {
    const deadline = new Deadline(ms);
    try {
      return await this.#connect(deadline);
    } finally {
      deadline.end();
    }
  }

  async #connect(deadline: Deadline): Promise<PostgresClient> {
    const connecting = this.#pool.connect();
    try {
      return await deadline.race(connecting);
    } catch (error) {
      // The connection may still come, for nobody; that it cannot come has been said already.
      connecting.then((late) => late.release()).catch(() => undefined);
      throw error;
    }
  }
}

async function lend<T>(client: PostgresClient, use: () => Promise<T>): Promise<T> {
  // While it is lent the pool does not listen, and an error that nobody listens to would end the process.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let isSound = false;
  try {
    const result = await use();
    isSound = true;
    return result;
  } catch (error) {
    isSound = isStatementError(error);
    throw error;
  } finally {
    client.removeListener('error', ignore);
    client.release(!isSound);
  }
}

/** The server answered, and the connection is as good as before: SQLSTATEs other than those of a lost connection. */
function isStatementError(error: unknown): boolean {
  const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P|53|25)/.test(code);
}

class Deadline {
  readonly #timer: NodeJS.Timeout;
  readonly #passed: Promise<never>;

  constructor(ms: number) {
    let fail: (error: Error) => void = () => undefined;
    this.#passed = new Promise((_resolve, reject) => {
      fail = reject;
    });
    this.#passed.catch(() => undefined);
    this.#timer = setTimeout(() => fail(new DatabaseTimeout()), ms);
  }

  race<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.#passed]);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
