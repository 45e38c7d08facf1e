import type { TestProject } from 'vitest/node';
import { startPostgres } from './start-postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the run's PostgreSQL server. Every test creates its own database or schema on it. */
    postgresUrl: string;
  }
}

/** For `globalSetup` of a vitest.config.ts: `inject('postgresUrl')` then returns the address of a server. */
export const GLOBAL_POSTGRES: string = import.meta.filename;

/** One server for the whole run, which is too short to need vacuuming; a query plan must not depend on when that happens. */
export default async function globalPostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({ autovacuum: 'off' });
  project.provide('postgresUrl', server.url);
  return () => server.stop();
}
