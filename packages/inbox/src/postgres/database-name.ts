import { ConfigurationError } from '@payment-service/core';
import { failureCode } from '../failure-code.ts';
import type { PostgresPool } from './postgres-pool.ts';

/**
 * The name of the database that a pool connects to, as `pg` reads it from the pool's options and the environment: asked
 * of a client that never connects. The server's address is left out, since another server may take over.
 *
 * @returns '' for a pool that does not say.
 * @throws {ConfigurationError} when no client can be made, so that the pool could never connect either.
 */
export function databaseName(pool: PostgresPool): string {
  const Client: unknown = Reflect.get(pool, 'Client');
  if (typeof Client !== 'function') return '';
  const client = newClient(Client, pool);
  const { database, user }: { database?: unknown; user?: unknown } = client;
  // Without a name PostgreSQL takes that of the user.
  return [database, user].find((name) => typeof name === 'string') ?? '';
}

function newClient(Client: Parameters<typeof Reflect.construct>[0], pool: PostgresPool): object {
  try {
    return Reflect.construct(Client, [pool.options]);
  } catch (error) {
    // Without the cause, which may quote a connection string and its password.
    throw new ConfigurationError(
      'pool',
      `The pool makes no client (${failureCode(error)}). Look at its connection string and its other options.`,
    );
  }
}
