/** Keeps a callback, passes a promise that it forgot to await as a value, and runs to its end: no close(), no exit(). */
import { paid } from '../callbacks.ts';
import { openInbox } from './open-inbox.ts';

const [engine, address = ''] = process.argv.slice(2);
const inbox = openInbox(engine, address);
await inbox.route.onCallback(paid('A', 500));
console.log('kept');
const forgotten: unknown = Promise.resolve(1);
await inbox
  .transaction((tx) => Reflect.apply(tx.query, tx, ['select ?', [forgotten]]))
  .catch((error: unknown) => console.log(error instanceof Error ? error.name : error));
const { rows } = await inbox.transaction((tx) => tx.query('select 1 as one'));
console.log(rows[0]?.['one']);
