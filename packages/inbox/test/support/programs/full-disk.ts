/** Calls health() until it fails, at most 200 times, and prints the result, then whether a callback is kept. */
import { createInbox, sqlite } from '../../../src/index.ts';
import { paid } from '../callbacks.ts';

const [path = ''] = process.argv.slice(2);
const { spool: _, ...store } = sqlite(path);
const inbox = createInbox({ store });
const failed = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');
console.log(await inbox.ready().then(() => 'ready', failed));
let health = await inbox.health();
for (let asked = 1; health.ok && asked < 200; asked += 1) health = await inbox.health();
console.log(['health', ...health.problems].join(' '));
console.log(await inbox.route.onCallback(paid('A', 500)).then(() => 'kept', failed));
process.exit(0);
