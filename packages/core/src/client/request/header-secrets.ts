/** A shorter value would match ordinary text by chance. */
const MIN_SECRET = 8;
const SCHEME = /^[a-z][a-z\d-]* +(?=\S)/i;

/**
 * What the scrubber hides of additional headers: their values, and every part of a value that a service may echo alone, such as
 * the token of `Bearer …`. For `Basic …`, also the decoded credentials and the password in them.
 */
export function headerSecrets(headers: Readonly<Record<string, string>>): readonly string[] {
  const found = Object.entries(headers).flatMap(([name, value]) => {
    // The name of a scheme, such as Signature, is not secret.
    const credentials = /authorization$/i.test(name) ? value.replace(SCHEME, '') : value;
    const [user = '', ...password] = basicCredentials(value)?.split(':') ?? [];
    const decoded = [[user, ...password].join(':'), password.join(':')];
    return [value, ...[credentials, ...decoded].flatMap((text) => [text, ...partsOf(text)])];
  });
  return [...new Set(found)].filter(({ length }) => length >= MIN_SECRET);
}

/** Splits `a=…; b=…`, `Digest username="…"`, `key:secret` and the three parts of a JWT. A name before '=' is not secret. */
function partsOf(text: string): readonly string[] {
  return text.split(/[\s,;]+/).flatMap((part) => {
    const at = part.indexOf('=');
    const value = part.slice(at + 1);
    // A '=' at the end belongs to Base64.
    const parts = /^=*$/.test(value) ? [part] : [part, value];
    return parts.flatMap((one) => [one, ...one.split('"')]).concat((parts.at(-1) ?? '').split(/[:=."']+/));
  });
}

/** `user:password`. */
function basicCredentials(value: string): string | undefined {
  const [, encoded] = /^basic ([\w+/=-]+)$/i.exec(value) ?? [];
  if (encoded === undefined) return undefined;
  try {
    const binary = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
    return new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
  } catch {
    return undefined; // Not Base64: the parts of the value itself are hidden.
  }
}
