/** Keeps the callback `paid('ORD-1', 500)`, and ends after others were told. */
import pg from 'pg';
import { createInbox, postgres } from '../../../src/index.ts';
import { paid } from '../callbacks.ts';

const [connectionString = '', schema] = process.argv.slice(2);
const inbox = createInbox({ store: postgres(new pg.Pool({ connectionString }), { schema }) });
await inbox.receive(paid('ORD-1', 500));
await new Promise((resolve) => setTimeout(resolve, 200));
process.exit(0);
