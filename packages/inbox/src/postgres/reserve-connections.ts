import { ConfigurationError } from '@payment-service/core';
import type { PostgresPool } from './postgres-pool.ts';

/** How many connections of each pool the workers keep, those of all inboxes together. */
const reserved = new WeakMap<PostgresPool, number>();

/**
 * Sets connections aside for a worker: one for each concurrent handler, and one that counts starts.
 *
 * @returns gives them back; to be called once.
 * @throws {ConfigurationError} when none would be left for callbacks that arrive.
 */
export function reserveConnections(pool: PostgresPool, concurrency: number): () => void {
  const own = concurrency + 1;
  const others = reserved.get(pool) ?? 0;
  const needed = others + own + 1;
  const { max = 10 } = pool.options;
  if (max < needed) {
    const kept = others === 0 ? '' : `, of which the work() of other inboxes keeps ${others}`;
    throw new ConfigurationError(
      'concurrency',
      `work() with concurrency ${concurrency} keeps ${own} connections, and the pool has ${max}${kept}. Give the pool a ` +
        `max of ${needed} or more, or work() a smaller concurrency.`,
    );
  }
  reserved.set(pool, others + own);
  return () => void reserved.set(pool, (reserved.get(pool) ?? own) - own);
}
