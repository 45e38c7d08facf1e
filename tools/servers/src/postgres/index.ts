export type { GivenData } from './empty-database.ts';
export { GLOBAL_POSTGRES } from './global-postgres.ts';
export type { PostgresServer } from './start-postgres.ts';
export { startPostgres } from './start-postgres.ts';
