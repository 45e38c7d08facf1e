import { inspect } from 'node:util';

/** The secrets, which must appear only where docs/how-we-know.md lists them. */
export const SECRETS = {
  'signing key': 'canary-signing-5f1d9be2',
  'public key': 'canary-public-77aa03c1',
  'secret key': 'canary-secret-90cc41d7',
  phone: '256772998887',
  name: 'Grace Nakato Canary',
} as const;

/** Everything that each place shows, as one string. */
export type Places = Record<string, string>;

/** The names of the secrets in a string: verbatim, escaped for HTML or a URL, or in Base64. */
export function secretsIn(shown: string): string[] {
  const forms = (secret: string): readonly string[] => [
    ...[secret, encodeURIComponent(secret), secret.replaceAll(' ', '+')],
    // The part of its Base64 that does not depend on its surroundings, if it starts a group.
    Buffer.from(secret).toString('base64').slice(0, -4),
  ];
  const found = Object.entries(SECRETS).filter(([, secret]) =>
    forms(secret).some((one) => shown.includes(one)),
  );
  return found.map(([name]) => name);
}

/** What loggers extract from a value: its hidden properties, its chain of causes, and its JSON. */
export function everythingIn(value: unknown): string {
  const options = { depth: 20, showHidden: true };
  const own = [
    inspect(value, { ...options, getters: true }),
    inspect(value, { ...options, customInspect: false }),
    `${value} ${JSON.stringify(value)}`,
  ];
  return own.join('\n') + (value instanceof Error && value.cause ? everythingIn(value.cause) : '');
}

/** What a call throws or rejects with. @throws {Error} if it does neither, since the attempt then shows nothing. */
export async function thrownBy(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return everythingIn(error);
  }
  throw new Error(`${call} did not fail.`);
}

/** Runs a function, and returns what the process printed meanwhile. */
export async function printedBy(run: () => Promise<unknown>): Promise<string> {
  const printed: string[] = [];
  const restored = [process.stdout, process.stderr].map((stream) => {
    const { write } = stream;
    stream.write = (chunk: unknown) => printed.push(String(chunk)) > 0;
    return () => Object.assign(stream, { write });
  });
  try {
    await run();
  } finally {
    for (const restore of restored) restore();
  }
  return printed.join('');
}
