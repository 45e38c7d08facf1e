import { expect, test } from 'vitest';
import { play } from './interleavings/play.ts';
import { ENGINES, newMerchant } from './support/merchant.ts';

// Every run plays different ones; INTERLEAVINGS_SEED repeats a run, or one scenario with INTERLEAVINGS=1. The script
// `interleavings` plays ten thousand on each engine.
const count = Number(process.env['INTERLEAVINGS'] ?? 40);
const firstSeed = Number(process.env['INTERLEAVINGS_SEED'] ?? Math.floor(Date.now() % 2 ** 31));

test.each(ENGINES)(
  `threat A5, threat A6, threat A53: ${count} interleavings from seed ${firstSeed} credit what is expected, once, and no FAILED takes it back, on %s`,
  { timeout: 3_600_000 },
  async (engine) => {
    console.log(`INTERLEAVINGS=${count} INTERLEAVINGS_SEED=${firstSeed} on ${engine}`);
    const seeds = Array.from({ length: count }, (_, index) => firstSeed + index);
    // PostgreSQL works on several together; SQLite has one writer in each file, and so there are two files.
    const [files, lanes] = engine === 'postgres' ? [1, 3] : [2, 1];
    const plays = Array.from({ length: files }, async (_, file) =>
      play(
        await newMerchant(engine),
        seeds.filter((seed) => seed % files === file),
        lanes,
      ),
    );
    expect((await Promise.all(plays)).flat()).toEqual([]);
  },
);
