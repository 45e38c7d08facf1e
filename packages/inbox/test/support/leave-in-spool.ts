import type { VerifiedCallback } from '@payment-service/core';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { type InboxOptions, postgres } from '../../src/index.ts';
import type { AnyTransaction, Merchant } from './merchant.ts';

/** Has an inbox of this merchant acknowledge callbacks while its store is away, and end before the store is back. */
export async function leaveInSpool(
  merchant: Merchant,
  options: Partial<InboxOptions<AnyTransaction>>,
  callbacks: readonly VerifiedCallback[],
): Promise<void> {
  const [, address = '', schema] = merchant.programArguments;
  const receiveAll = async (away = merchant.newStore()): Promise<void> => {
    const inbox = merchant.open({ storeTimeoutMs: 300, store: away, ...options });
    for (const callback of callbacks) await inbox.receive(callback);
    await inbox.close();
  };
  if (merchant.engine === 'postgres') await receiveAll(postgres(unreachable(address), { schema }));
  // The merchant's transaction is the one writer.
  else await merchant.transaction(() => receiveAll());
}

/** A pool for the same database, at an address where no server is. */
export function unreachable(address: string): pg.Pool {
  const nowhere = new URL(address);
  nowhere.port = '1';
  const pool = new pg.Pool({ connectionString: nowhere.href });
  onTestFinished(() => pool.end());
  return pool;
}
