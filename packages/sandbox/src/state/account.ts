import { hmacOf } from '@payment-service/core/internal';

/** The keys of the sandbox account (protocol §1 and §5). All three start with SANDBOX. */
export interface SandboxAccount {
  readonly publicKey: string;
  readonly secretKey: string;
  readonly signingKey: string;
}

/** Hexadecimal digits, at most 64, that depend on seed and label only. The keys follow from the seed, by design. */
export const deriveText = (seed: string, label: string, length: number): string =>
  hmacOf(seed, label).slice(0, length);

/** The account of a seed: the same seed gives the same keys. */
export function mintAccount(seed: string): SandboxAccount {
  return Object.freeze({
    publicKey: `SANDBOXPUBLIC${deriveText(seed, 'public key', 24)}`,
    secretKey: `SANDBOXSECRET${deriveText(seed, 'secret key', 32)}`,
    signingKey: `SANDBOXSIGNING${deriveText(seed, 'signing key', 32)}`,
  });
}
