/** Keeps one delivery after another in a spool whose store is unavailable, and prints each one that it has kept. */

import { proofOf } from '@payment-service/core/internal';
import { sqlite } from '../../../src/index.ts';
import { Spool } from '../../../src/intake/spool.ts';
import { spoolOwner } from '../../../src/intake/spool-folder.ts';
import { callbackRecord } from '../../../src/intake/verified-record.ts';
import { settingsOf } from '../../../src/options.ts';
import { paid } from '../callbacks.ts';

const [path = ''] = process.argv.slice(2);
const settings = settingsOf({ store: sqlite(`${path}.db`), random: () => 0, onError: () => undefined });
const store = (): Promise<never> => Promise.reject(new Error('The store is unavailable.'));
const spool = new Spool({
  path,
  owner: spoolOwner('A', { dialect: 'sqlite', prefix: 'payment_inbox_' }),
  settings,
  store,
  notKept: store,
});
let number = 0;
async function write(): Promise<never> {
  for (;;) {
    number += 1;
    const reference = `ORD-${number}`;
    const callback = paid(reference, 500);
    const signature = proofOf(callback)?.signature;
    if (await spool.keep(callbackRecord(callback, ''), signature, 'ECONNREFUSED')) console.log(reference);
  }
}
/** Three at a time, so that a kill hits groups as well as single deliveries. */
await Promise.all([write(), write(), write()]);
