import { type Tables, tablesNamed } from '../tables.ts';

/** SQLite has no schemas: the prefix keeps the inbox's tables apart from the merchant's own in the same file. */
export const TABLE_PREFIX = 'payment_inbox_';
export const tables: Tables = tablesNamed(TABLE_PREFIX);
/** One row: the number of the last step of a worker in which a handler was started. See start-counter.ts. */
export const STEP_TABLE: string = `${TABLE_PREFIX}step`;
