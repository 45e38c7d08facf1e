/** The keys of the sandbox account (protocol §1 and §5). All three start with SANDBOX. */
export interface SandboxAccount {
  readonly publicKey: string;
  readonly secretKey: string;
  readonly signingKey: string;
}

const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789';

/**
 * A string of letters and digits that depends on seed and label only. Not cryptography: the seed gives away the keys, and
 * that is the point of a seed. (cyrb128 to spread the seed, sfc32 to draw from it.)
 */
export function deriveText(seed: string, label: string, length: number): string {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762];
  for (const character of `${label}\n${seed}`) {
    const k = character.codePointAt(0) ?? 0;
    a = b ^ Math.imul(a ^ k, 597399067);
    b = c ^ Math.imul(b ^ k, 2869860233);
    c = d ^ Math.imul(c ^ k, 951274213);
    d = a ^ Math.imul(d ^ k, 2716044179);
  }
  const draw = (): number => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 20; round += 1) draw();
  let text = '';
  while (text.length < length) text += alphabet.charAt(draw() % alphabet.length);
  return text;
}

/** A seed from the platform's randomness, for an account without a given seed. */
export function randomSeed(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** The account of a seed: the same seed gives the same keys. */
export function mintAccount(seed: string): SandboxAccount {
  return Object.freeze({
    publicKey: `SANDBOXPUBLIC${deriveText(seed, 'public key', 24)}`,
    secretKey: `SANDBOXSECRET${deriveText(seed, 'secret key', 32)}`,
    signingKey: `SANDBOXSIGNING${deriveText(seed, 'signing key', 32)}`,
  });
}
