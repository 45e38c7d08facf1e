/** Prints what ready() and health() report for an inbox with a spool. */
import pg from 'pg';
import { createInbox, postgres } from '../../../src/index.ts';

const [connectionString = '', schema, spool] = process.argv.slice(2);
const inbox = createInbox({ store: postgres(new pg.Pool({ connectionString }), { schema }), spool });
const failure = await inbox.ready().then(
  () => '',
  (error: unknown) => ` ${String(Object(error).code)}`,
);
const { problems } = await inbox.health();
console.log([`ready${failure}, health`, ...problems].join(' '));
process.exit(0);
