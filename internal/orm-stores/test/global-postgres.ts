import { startPostgres } from '@payment-service/postgres-server';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the run's PostgreSQL server. Every library gets a database of its own on it. */
    postgresUrl: string;
  }
}

/** One server for the whole run. */
export default async function globalPostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  project.provide('postgresUrl', server.url);
  return () => server.stop();
}
