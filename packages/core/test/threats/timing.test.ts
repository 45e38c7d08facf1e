import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, test } from 'vitest';
import { digestName } from '#digest';
import { createVerifier } from '../../src/index.ts';
import { callbackData, HASH, HASH_OF_OTHER_KEY, OTHER_KEY, SIGNING_KEY, T } from '../signed-callbacks.ts';

// The comparison of digests on node:crypto; timing.portable.test.ts tests the other.

test("threat A21: every key's whole digest goes through the constant-time comparison, whichever key matches", () => {
  expect(digestName).toBe('node:crypto');
  const lengths: number[] = [];
  const watched = crypto.timingSafeEqual;
  crypto.timingSafeEqual = (left, right) => {
    lengths.push(left.byteLength, right.byteLength);
    return watched(left, right);
  };
  syncBuiltinESMExports();
  try {
    const keys = [OTHER_KEY, SIGNING_KEY, 'KEY-THREE-3333333'];
    const given = createVerifier({ signingKey: keys.map((key) => ({ id: `id of ${key}`, key })) });
    for (const s of [HASH, HASH_OF_OTHER_KEY, '0'.repeat(64)]) {
      given.verifyCallback({ signature: `t=${T},s=${s}`, body: callbackData() });
    }
  } finally {
    crypto.timingSafeEqual = watched;
    syncBuiltinESMExports();
  }
  expect(lengths).toEqual(Array(3 * 3 * 2).fill(64));
});
