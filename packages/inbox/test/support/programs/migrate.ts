/** Sets the inbox up, at the moment that it is given. */
import { openInbox } from './open-inbox.ts';

const [startAt = '0', engine, address = '', schema] = process.argv.slice(2);
const inbox = openInbox(engine, address, schema);
await new Promise((resolve) => setTimeout(resolve, Number(startAt) - Date.now()));
await inbox.ready();
const { states } = await inbox.stats();
console.log(`ready ${states.pending}`);
await inbox.close();
process.exit(0);
