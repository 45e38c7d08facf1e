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
for (let number = 1; ; number += 1) {
  if (await spool.keep(callbackRecord(paid(`ORD-${number}`, 500), ''))) console.log(`ORD-${number}`);
  await new Promise((resolve) => setTimeout(resolve, 5));
}
