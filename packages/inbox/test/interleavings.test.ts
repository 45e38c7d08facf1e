import { expect, it } from 'vitest';
import { play } from './interleavings/play.ts';
import { ENGINES, newMerchant } from './support/merchant.ts';

// Every run takes other ones; INTERLEAVINGS_SEED repeats a run, or one scenario with INTERLEAVINGS=1.
const count = Number(process.env['INTERLEAVINGS'] ?? 10_000);
const firstSeed = Number(process.env['INTERLEAVINGS_SEED'] ?? Math.floor(Date.now() % 2 ** 31));

it.each(ENGINES)(
  `A5, A6: ${count} interleavings from seed ${firstSeed} credit what is expected, once, on %s`,
  { timeout: 600_000 },
  async (engine) => {
    console.log(`INTERLEAVINGS=${count} INTERLEAVINGS_SEED=${firstSeed} on ${engine}`);
    const merchant = await newMerchant(engine);
    const lanes = engine === 'postgres' ? 6 : 1;
    const violations = await play({ merchant, store: merchant.newStore(), firstSeed, count, lanes });
    expect(violations).toEqual([]);
  },
);
