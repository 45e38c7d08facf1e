import { expect, it } from 'vitest';
import { play, type Violation } from './interleavings/play.ts';
import { ENGINES, type EngineName, newMerchant } from './support/merchant.ts';

// Every run takes other ones; INTERLEAVINGS_SEED repeats a run, or one scenario with INTERLEAVINGS=1. The script
// `interleavings` plays ten thousand on each engine.
const count = Number(process.env['INTERLEAVINGS'] ?? 300);
const firstSeed = Number(process.env['INTERLEAVINGS_SEED'] ?? Math.floor(Date.now() % 2 ** 31));

/** PostgreSQL works on several at once; SQLite has one writer in each file, and so there are two files. */
const SHARDS: Record<EngineName, readonly { readonly lanes: number }[]> = {
  postgres: [{ lanes: 3 }],
  sqlite: [{ lanes: 1 }, { lanes: 1 }],
};

it.each(ENGINES)(
  `threat A5, threat A6: ${count} interleavings from seed ${firstSeed} credit what is expected, once, on %s`,
  { timeout: 3_600_000 },
  async (engine) => {
    console.log(`INTERLEAVINGS=${count} INTERLEAVINGS_SEED=${firstSeed} on ${engine}`);
    const shards = SHARDS[engine];
    const share = Math.ceil(count / shards.length);
    const plays: Promise<Violation[]>[] = [];
    for (const [index, { lanes }] of shards.entries()) {
      const merchant = await newMerchant(engine);
      const first = index * share;
      plays.push(
        play({ merchant, firstSeed: firstSeed + first, count: Math.min(share, count - first), lanes }),
      );
    }
    expect((await Promise.all(plays)).flat()).toEqual([]);
  },
);
