/** Passes a promise as a value, which its program forgot to wait for, and goes on; it neither closes nor exits. */
import { openInbox } from './open-inbox.ts';

const [engine, address = ''] = process.argv.slice(2);
const inbox = openInbox(engine, address);
const forgotten: unknown = Promise.resolve(1);
await inbox
  .transaction((tx) => Reflect.apply(tx.query, tx, ['select ?', [forgotten]]))
  .catch((error: unknown) => console.log(error instanceof Error ? error.name : error));
const { rows } = await inbox.transaction((tx) => tx.query('select 1 as one'));
console.log(rows[0]?.['one']);
