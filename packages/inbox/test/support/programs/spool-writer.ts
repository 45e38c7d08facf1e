/** Keeps one delivery after the other in a spool whose store is away, and says of which it is kept. */
import { sqlite } from '../../../src/index.ts';
import { callbackRecord } from '../../../src/intake/record.ts';
import { Spool } from '../../../src/intake/spool.ts';
import { checkOptions } from '../../../src/options.ts';
import { paid } from '../callbacks.ts';

const [path = ''] = process.argv.slice(2);
const settings = checkOptions({ store: sqlite(`${path}.db`), random: () => 0 });
const store = (): Promise<never> => Promise.reject(new Error('The store is away.'));
const spool = new Spool({ path, owner: 'A', settings, store });
let number = 0;
/** Three at a time, so that some are written while the file is drained in vain. */
async function write(): Promise<never> {
  for (;;) {
    number += 1;
    const reference = `ORD-${number}`;
    if (await spool.keep(callbackRecord(paid(reference, 500), ''))) console.log(reference);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
await Promise.all([write(), write(), write()]);
