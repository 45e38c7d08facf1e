/**
 * Keeps one delivery after another in a spool whose store is unavailable, and prints each one that it has kept. The first argument is
 * the path, the second begins each reference; with a third one, it ends when a delivery is not kept, and prints why.
 */
import { proofOf } from '@payment-service/core/internal';
import { sqlite } from '../../../src/index.ts';
import { Spool } from '../../../src/intake/spool.ts';
import { spoolOwner } from '../../../src/intake/spool-file.ts';
import { callbackRecord } from '../../../src/intake/verified-record.ts';
import { settingsOf } from '../../../src/options.ts';
import { paid } from '../callbacks.ts';

const [path = '', name = '', untilItFails] = process.argv.slice(2);
const settings = settingsOf({
  store: sqlite(`${path}.db`),
  random: () => 0,
  onError: () => undefined,
  onEvent: (event) => {
    if (untilItFails === undefined || event.name !== 'spool.failed') return;
    console.log(`refused ${event.failure}`);
    process.exit(0);
  },
});
const store = (): Promise<never> => Promise.reject(new Error('The store is unavailable.'));
const owner = spoolOwner('A', { dialect: 'sqlite', prefix: 'payment_inbox_' });
const spool = new Spool({ path, owner, settings, store });
let number = 0;
async function write(): Promise<never> {
  for (;;) {
    number += 1;
    const reference = `ORD-${name}-${number}`;
    const callback = paid(reference, 500);
    const signature = proofOf(callback)?.signature;
    if (await spool.keep(callbackRecord(callback, ''), signature, 'ECONNREFUSED')) console.log(reference);
  }
}
/** Three at a time, so that a kill hits several. */
await Promise.all([write(), write(), write()]);
