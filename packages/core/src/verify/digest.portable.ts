import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

// The same four functions as digest.node.ts, for runtimes without node:crypto. WebCrypto was turned down: its
// HMAC is asynchronous, and the verifier is synchronous everywhere.

/** A signing key made ready once, so that no verification pays for it: an HMAC that has read the key, and no text. */
export type DigestKey = ReturnType<typeof hmac.create>;

/** Which implementation the import condition chose. */
export const digestName = '@noble/hashes';

/** The key is used as its plain string bytes (protocol §5.2). */
export function prepareKey(key: string): DigestKey {
  return hmac.create(sha256, utf8ToBytes(key));
}

/** HMAC-SHA256 over the UTF-8 text, as 64 lower-case hexadecimal digits. */
export function hmacHex(key: DigestKey, text: string): string {
  return bytesToHex(key.clone().update(utf8ToBytes(text)).digest());
}

export function sha256Hex(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

/** Compares two texts of 64 ASCII characters without an early exit. */
export function equalHex(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < 64; index++) difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  return difference === 0;
}
