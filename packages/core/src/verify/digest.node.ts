import { createHash, hash, timingSafeEqual } from 'node:crypto';

/** HMAC-SHA256 with one key, over UTF-8: 64 lower-case hexadecimal digits. */
export type Hmac = (message: string) => string;

/** Which implementation the import condition chose. */
export const digestName = 'node:crypto';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Longer messages get a buffer of their own. Signed fields rarely exceed 200 bytes. */
const MAX_REUSED_BYTES = 4096;

/**
 * Prepares a signing key once (protocol §5.2: the key is used as its plain string bytes).
 *
 * HMAC is written out (RFC 2104) as two one-shot hashes over pads made in advance: less than half the time of
 * `createHmac`, which builds a native object for every message. The key stays in the closure, where no inspection shows
 * it.
 */
export function prepareKey(key: string | Uint8Array): Hmac {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'utf8') : key;
  const block = bytes.length > BLOCK_BYTES ? createHash('sha256').update(bytes).digest() : bytes;
  const inner = Buffer.alloc(BLOCK_BYTES + MAX_REUSED_BYTES);
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
  for (let index = 0; index < BLOCK_BYTES; index++) {
    inner[index] = (block[index] ?? 0) ^ 0x36;
    outer[index] = (block[index] ?? 0) ^ 0x5c;
  }
  return (message) => {
    const maxBytes = message.length * 3;
    const input = maxBytes <= MAX_REUSED_BYTES ? inner : Buffer.alloc(BLOCK_BYTES + maxBytes);
    if (input !== inner) inner.copy(input, 0, 0, BLOCK_BYTES);
    const end = BLOCK_BYTES + input.write(message, BLOCK_BYTES, 'utf8');
    outer.write(hash('sha256', input.subarray(0, end), 'binary'), BLOCK_BYTES, 'binary');
    return hash('sha256', outer, 'hex');
  };
}

export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

const left = Buffer.alloc(BLOCK_BYTES);
const right = Buffer.alloc(BLOCK_BYTES);

/** Compares two strings of 64 ASCII characters in constant time. */
export function equalHex(one: string, other: string): boolean {
  left.write(one, 'latin1');
  right.write(other, 'latin1');
  return timingSafeEqual(left, right);
}
