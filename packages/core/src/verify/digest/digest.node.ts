/** HMAC-SHA256 with one key, over UTF-8: 64 lower-case hexadecimal digits. */
export type Hmac = (message: string) => string;

/** The implementation that the import condition chose. */
export const digestName = 'node:crypto';

// Not imported: in the package, this code is in a file that browsers also load. There, '#digest' is replaced (decision D15).
const crypto = /* @__PURE__ */ globalThis.process?.getBuiltinModule?.('node:crypto');

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Longer messages get a separate buffer. Signed fields rarely exceed 200 bytes. */
const MAX_REUSED_BYTES = 4096;

/**
 * Prepares a signing key once (protocol §5.2: the key is used as its plain string bytes).
 *
 * HMAC is written out (RFC 2104) as two one-shot hashes over pads made in advance. It takes less than half the time of
 * `createHmac`, which builds a native object for every message. The key stays in the closure, where no inspection shows
 * it.
 */
export function prepareKey(key: string | Uint8Array): Hmac {
  const { hash } = crypto;
  const bytes = Buffer.from(key);
  const block = bytes.length > BLOCK_BYTES ? hash('sha256', bytes, 'buffer') : bytes;
  const inner = Buffer.alloc(BLOCK_BYTES + MAX_REUSED_BYTES, 0x36);
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c);
  block.forEach((byte, index) => {
    inner[index] = byte ^ 0x36;
    outer[index] = byte ^ 0x5c;
  });
  return (message) => {
    const input =
      message.length * 3 > MAX_REUSED_BYTES
        ? Buffer.concat([inner.subarray(0, BLOCK_BYTES), Buffer.from(message)])
        : inner.subarray(0, BLOCK_BYTES + inner.write(message, BLOCK_BYTES));
    outer.write(hash('sha256', input, 'binary'), BLOCK_BYTES, 'binary');
    return hash('sha256', outer, 'hex');
  };
}

export function sha256Hex(bytes: Uint8Array): string {
  return crypto.hash('sha256', bytes, 'hex');
}

// Reused by each comparison, which nothing can interrupt: allocating both would cost as much as one of the two hashes.
const left = /* @__PURE__ */ globalThis.Buffer?.alloc(64);
const right = /* @__PURE__ */ globalThis.Buffer?.alloc(64);

/** Compares two strings of 64 ASCII characters in constant time. */
export function equalHex(one: string, other: string): boolean {
  left.write(one, 'binary');
  right.write(other, 'binary');
  return crypto.timingSafeEqual(left, right);
}
