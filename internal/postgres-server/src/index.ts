export { freePort } from './free-port.ts';
export type { PostgresServer } from './start-postgres.ts';
export { startPostgres } from './start-postgres.ts';
