import type { Merchant } from './merchant.ts';

/** What points payment-service-inbox at the database of a merchant. */
export function pointingAt({ engine, programArguments: [, where = '', schema = ''] }: Merchant): {
  args: string[];
  env: Record<string, string>;
} {
  if (engine === 'sqlite') return { args: ['--database', where], env: {} };
  return { args: ['--schema', schema], env: { DATABASE_URL: where } };
}
