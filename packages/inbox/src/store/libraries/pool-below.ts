import type { PostgresClient, PostgresPool } from '../postgres/connection.ts';

/** The client of Knex, which lends the connections of its pool. */
interface KnexClient {
  readonly config: object;
  acquireConnection(): Promise<PostgresClient>;
  releaseConnection(connection: PostgresClient): Promise<void>;
}

/** The `pg` pool below a Drizzle database, a TypeORM data source or a Knex, if it exposes one. */
export function poolBelow(library: object): PostgresPool | undefined {
  const knex = member(library, 'client');
  const ofKnex = isKnexClient(knex) ? (member(knex.config, 'connectionPool') ?? poolOf(knex)) : undefined;
  return [member(library, '$client'), member(member(library, 'driver'), 'master'), ofKnex].find(isPool);
}

/** Whether it is a `pg` pool, not a single client. */
export function isPool(value: unknown): value is PostgresPool {
  const max = member(member(value, 'options'), 'max');
  return typeof member(value, 'connect') === 'function' && typeof max === 'number';
}

function isKnexClient(value: unknown): value is KnexClient {
  return typeof member(value, 'acquireConnection') === 'function';
}

export function member(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}

/** For the listening connection: returned unchanged, since Knex reports a connection that was ended. */
function poolOf(client: KnexClient): PostgresPool {
  return {
    options: { max: Number(member(member(client.config, 'pool'), 'max') ?? 10) },
    connect(callback) {
      client.acquireConnection().then(
        (connection) => {
          const release = (): void =>
            void connection
              .query('unlisten payment_inbox')
              .finally(() => client.releaseConnection(connection))
              .catch(() => undefined);
          callback(undefined, Object.assign(connection, { release }));
        },
        (error: Error) => callback(error, undefined),
      );
    },
  };
}
