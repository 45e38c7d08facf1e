/** Keeps a callback, and comes to its end without close() and exit(). */
import { paid } from '../callbacks.ts';
import { openInbox } from './open-inbox.ts';

const [engine, address = '', schema] = process.argv.slice(2);
await openInbox(engine, address, schema).receive(paid('A', 500));
console.log('kept');
