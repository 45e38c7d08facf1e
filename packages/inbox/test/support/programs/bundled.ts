/** Keeps a callback with sqlite(), and prints the results of ready() and receive(). A test bundles it. */
import { createInbox, sqlite } from '../../../src/index.ts';
import { paid } from '../callbacks.ts';

const [path = ''] = process.argv.slice(2);
const inbox = createInbox({ store: sqlite(path) });
const failed = (error: unknown): string => String(error);
async function main(): Promise<void> {
  console.log(`ready ${await inbox.ready().then(() => 'ok', failed)}`);
  console.log(`receive ${await inbox.route.onCallback(paid('A', 500)).then(() => 'ok', failed)}`);
  console.log(`health ${(await inbox.health()).problems}`);
  await inbox.close();
}
// A bundle may be CommonJS, which does not allow await here.
void main();
