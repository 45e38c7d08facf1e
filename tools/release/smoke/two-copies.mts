import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as imported from '@payment-service/core';

type Core = typeof imported;

/**
 * Copies of core that meet in one process (threat A37): the ES module, the CommonJS files beside it, as a bundle of both
 * contains them, and a second installed copy, as an update leaves it behind. Each accepts what the others verified, and
 * none accepts anything else.
 */
const require = createRequire(import.meta.url);
const installed = dirname(require.resolve('@payment-service/core/package.json'));
const copies: readonly Core[] = [
  imported,
  require(join(installed, 'dist', 'index.cjs')),
  require(join(process.argv[3] ?? '', 'dist', 'index.cjs')),
];
assert.equal(new Set(copies.map(({ createVerifier }) => createVerifier)).size, copies.length);

const signingKey = 'SMOKESIGNINGKEY0';
const expected = { currency: 'UGX', amount: '500' };
const { sampleCallback, signCallback } = await import('@payment-service/core/testing');
const data = sampleCallback();
const body = JSON.stringify(data);
const signature = signCallback({ signingKey, data });

for (const one of copies) {
  const callback = one.createVerifier({ signingKey }).verifyCallback({ signature, body });
  assert.ok(callback.ok);
  for (const other of copies) {
    assert.deepEqual(other.confirmAmount(callback, expected), { ok: true });
    assert.equal(other.bodyText(callback), body);
    for (const forgery of [{ ...callback }, structuredClone(data), Object.create(callback)]) {
      assert.throws(() => other.confirmAmount(forgery, expected), other.ConfigurationError);
    }
  }
}
console.log('copies agree');
