/** Keeps the callback `paid('ORD-1', 500)`, and ends after other processes were notified. */
import { paid } from '../callbacks.ts';
import { openInbox } from './open-inbox.ts';

const [connectionString = '', schema] = process.argv.slice(2);
await openInbox('postgres', connectionString, schema).receive(paid('ORD-1', 500));
await new Promise((resolve) => setTimeout(resolve, 200));
process.exit(0);
