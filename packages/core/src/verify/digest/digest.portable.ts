import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

// The same functions as digest.node.ts, for runtimes without node:crypto. WebCrypto was rejected: its HMAC is
// asynchronous, but the verifier is synchronous everywhere (decision D15).

/** HMAC-SHA256 with one key, over UTF-8: 64 lower-case hexadecimal digits. */
export type Hmac = (message: string) => string;

/** The implementation that the import condition chose. */
export const digestName = '@noble/hashes';

/** Prepares a signing key once (protocol §5.2: the key is used as its plain string bytes). */
export function prepareKey(key: string | Uint8Array): Hmac {
  const prepared = hmac.create(sha256, typeof key === 'string' ? utf8ToBytes(key) : key);
  return (message) => bytesToHex(prepared.clone().update(utf8ToBytes(message)).digest());
}

export function sha256Hex(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

/** Compares two strings of 64 ASCII characters without an early exit. */
export function equalHex(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < 64; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
