export { freePort } from '../../../../vitest.shared.ts';
export type { GivenData } from './empty-database.ts';
export { GLOBAL_POSTGRES } from './global-postgres.ts';
export { childrenOf, signalProcess, stopProcess } from './process-tree.ts';
export { type ServerUser, serverUser } from './programs.ts';
export type { PostgresServer } from './start-postgres.ts';
export { startPostgres } from './start-postgres.ts';
