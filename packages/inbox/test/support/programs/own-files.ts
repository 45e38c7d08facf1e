/**
 * Under a umask, keeps a callback in a database, one in its spool, and the rows of a statement, and prints the mode of every
 * file while all are open.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createInbox, sqlite } from '../../../src/index.ts';
import { openStaging } from '../../../src/reconciliation/staging.ts';
import { paid } from '../callbacks.ts';

const [folder = '', umask = ''] = process.argv.slice(2);
process.umask(Number.parseInt(umask, 8));
const path = join(folder, 'shop.db');
const store = sqlite(path, { lockTimeoutMs: 50 });
const inbox = createInbox({ store, storeTimeoutMs: 100, onError: () => undefined });
await inbox.ready();
await inbox.route.onCallback(paid('A', 500));
const other = new DatabaseSync(path);
other.exec('begin immediate');
await inbox.route.onCallback(paid('B', 500));
const staging = await openStaging();
const keys = { type: null, id: 'I', amount: '500', kind: 'in' } as const;
// More than SQLite keeps in memory.
for (let place = 1; place <= 20_000; place += 1)
  staging.add(place, { line: place, row: {} }, { ...keys, reference: `${place}`.padStart(200, '0') });
const modes = new Map<string, string>();
const look = (name: string, at: string): unknown => modes.set(name, (statSync(at).mode & 0o777).toString(8));
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) look(name, join(folder, name));
// Staging has no name any more: Linux shows what it was.
for (const fd of process.platform === 'linux' ? readdirSync('/proc/self/fd') : []) {
  const at = `/proc/self/fd/${fd}`;
  try {
    if (readlinkSync(at).includes('etilqs')) look('staging', at);
  } catch {
    // The descriptor of this list.
  }
}
console.log(JSON.stringify(Object.fromEntries(modes)));
process.exit(0);
