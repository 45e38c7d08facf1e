import pg from 'pg';
import { onTestFinished } from 'vitest';

/** A pool for the same database, at an address where no server is. */
export function unreachable(address: string): pg.Pool {
  const nowhere = new URL(address);
  nowhere.port = '1';
  const pool = new pg.Pool({ connectionString: nowhere.href });
  onTestFinished(() => pool.end());
  return pool;
}
