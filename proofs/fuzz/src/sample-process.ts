import process from 'node:process';
import { type Counts, countBatch, noCounts } from './count.ts';
import { subjects } from './originals.ts';

/** A part of a run as a separate program, which is bundled with either digest and started on any runtime. */
export function sample(seed: number, batches: number): Counts {
  const all = subjects();
  const counts = noCounts();
  for (let number = 0; number < batches; number++) countBatch(all, seed, number, counts, () => undefined);
  return counts;
}

const [seed, batches] = process.argv.slice(2).map(Number);
if (seed && batches) console.log(JSON.stringify(sample(seed, batches)));

/** The entry for `workerd test`, which passes no arguments. */
const worker = {
  test(_controller: unknown, { SAMPLE = '' }: { readonly SAMPLE?: string }): void {
    const [ownSeed = 0, ownBatches = 0] = SAMPLE.split(' ').map(Number);
    console.log(JSON.stringify(sample(ownSeed, ownBatches)));
  },
};
export default worker;
