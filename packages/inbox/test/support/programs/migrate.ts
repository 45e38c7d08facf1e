/** Sets the inbox up, at the moment that it is given, and keeps one callback's worth of nothing: only the tables. */
import { openInbox } from './open-inbox.ts';

const [engine, address = '', schema, _placeholder, startAt = '0'] = process.argv.slice(2);
const inbox = openInbox(engine, address, schema);
await new Promise((resolve) => setTimeout(resolve, Number(startAt) - Date.now()));
await inbox.ready();
const { states } = await inbox.stats();
console.log(`ready ${states.pending}`);
await inbox.close();
process.exit(0);
