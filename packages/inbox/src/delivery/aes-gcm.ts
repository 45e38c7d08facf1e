import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { ConfigurationError } from '@payment-service/core';
import { checkOptions, RECORD } from '@payment-service/core/internal';
import type { BodyEncryption } from './stored-delivery.ts';

/** Keys of `aesGcm()`, each under an id that is stored in the clear beside what it has sealed. */
export interface AesGcmKeys {
  /** The id of the key that seals. */
  readonly current: string;
  /** By id: 32 random bytes, or their base64. Keep an old one until `prune()` has removed what it sealed. */
  readonly keys: Readonly<Record<string, string | Uint8Array>>;
}

const ID = /^[\w-]{1,40}$/;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM from node:crypto for the option `encryption`. To rotate: add a key, make it `current`, and remove the old one later.
 * Rotate before a key has sealed 2^32 bodies.
 *
 * @throws {ConfigurationError} For an id that is not 1 to 40 letters, digits, `_` or `-`, or a key that is not 32 bytes.
 *
 * @example
 * const { BODY_KEY_1, BODY_KEY_2 } = process.env; // from `openssl rand -base64 32`
 * createInbox({ store, encryption: aesGcm({ current: 'k2', keys: { k1: BODY_KEY_1, k2: BODY_KEY_2 } }) });
 */
export function aesGcm(options: AesGcmKeys): BodyEncryption {
  checkOptions('aesGcm()', options, {
    current: undefined,
    keys: [RECORD[0], 'a map from an id to a key', true],
  });
  const { current, keys: given } = options;
  const keys = new Map(Object.entries(given).map(([id, key]) => [id, bytesOf(id, key)]));
  const key = keys.get(current);
  if (key === undefined)
    throw new ConfigurationError('current', 'current must be the id of one of the keys of aesGcm().');
  return Object.freeze({
    seal(text: string) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const sealed = [cipher.update(text, 'utf8'), cipher.final()];
      return `${current}.${Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString('base64url')}`;
    },
    open(sealed: string) {
      const at = sealed.indexOf('.');
      const own = keys.get(sealed.slice(0, at));
      if (own === undefined)
        throw new TypeError('The key that sealed this is not one of the keys of aesGcm().');
      const bytes = Buffer.from(sealed.slice(at + 1), 'base64url');
      const start = IV_BYTES + TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', own, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(IV_BYTES, start));
      return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]).toString('utf8');
    },
  });
}

function bytesOf(id: string, key: string | Uint8Array): Uint8Array {
  if (!ID.test(id))
    throw new ConfigurationError(
      'keys',
      'The id of a key of aesGcm() must be 1 to 40 letters, digits, "_" or "-".',
    );
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : key;
  if (bytes instanceof Uint8Array && bytes.length === 32) return bytes;
  const message = `The key ${id} of aesGcm() must be 32 random bytes, or the base64 of them: openssl rand -base64 32.`;
  throw new ConfigurationError('keys', message);
}
