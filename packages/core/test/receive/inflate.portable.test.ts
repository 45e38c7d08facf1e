import { expect, test } from 'vitest';
import { inflate } from '#inflate';
import { inflateCases } from './inflate-cases.ts';

// Belongs to the project `portable` of vitest.config.ts, where '#inflate' is the implementation without node:zlib.
// DecompressionStream judges several members and trailing bytes differently from one Node to the next.

const text =
  '{"event":"transaction.completed","payload":{"customer_name":"Ünïcødé 🛒","note":"not a callback"}}';

test.each(inflateCases(text))(
  'on the portable inflate, $name gets the verdict of node:zlib',
  async (given) => {
    const result = await inflate(given.body, given.encoding, 65_536);
    if (given.code !== 'accepted') expect(result).toBe(given.code);
    else expect(typeof result === 'string' ? result : new TextDecoder().decode(result).trimEnd()).toBe(text);
  },
);
