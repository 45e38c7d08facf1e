import { expect, test } from 'vitest';
import { digestName, equalHex } from '#digest';
import { HASH } from '../signed-callbacks.ts';

// Belongs to the project `portable` of vitest.config.ts, where '#digest' is the implementation without node:crypto.

/** A string that records which of its characters have been read. */
class WatchedString extends String {
  readonly read: number[] = [];

  override charCodeAt(index: number): number {
    this.read.push(index);
    return super.charCodeAt(index);
  }
}

test.each([
  ['the expected one', HASH, true],
  ['different in the first digit', `0${HASH.slice(1)}`, false],
  ['different in the last digit', `${HASH.slice(0, -1)}0`, false],
  ['different everywhere', 'x'.repeat(64), false],
])('threat A21: the portable comparison reads all 64 digits of a hash that is %s', (_, text, isEqual) => {
  expect(digestName).toBe('@noble/hashes');
  const [left, right] = [new WatchedString(text), new WatchedString(HASH)];
  const texts: unknown[] = [left, right];
  expect(equalHex(texts[0] as string, texts[1] as string)).toBe(isEqual);
  const all = Array.from({ length: 64 }, (_, index) => index);
  expect([left.read, right.read]).toEqual([all, all]);
});
