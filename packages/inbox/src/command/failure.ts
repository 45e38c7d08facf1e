import { ConfigurationError } from '@payment-service/core';

/** A mistake in the options of a verb; the inbox explains it. */
const OPTIONS_OF_THE_USER = [
  ...['account', 'schema', 'database', 'by', 'note', 'body'],
  ...['merchant_reference', 'transaction_type', 'currency', 'amount'],
  ...['map', 'creditedWithin', 'which', 'until'],
];

export function isWrongUse(error: unknown): boolean {
  return error instanceof ConfigurationError && OPTIONS_OF_THE_USER.includes(error.option);
}

/** The message of an error, for the user of the command. Node's error after a refused connection has no message of its own. */
export function messageOf(error: unknown): string {
  return withoutSecrets(textOf(error), process.env['DATABASE_URL']);
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : error.name;
  if (error instanceof AggregateError) return error.errors.map(textOf).join(', ') || code;
  return error.message || code;
}

/**
 * Removes the password of a database's address, and its parts: if the password has a character that ends a part of an address,
 * the rest is read as a host, a port or a database, which an error quotes.
 */
export function withoutSecrets(text: string, url: string = ''): string {
  const [, inAddress = ''] = /^[^:]*:\/\/[^:]*:(.*)@/s.exec(url) ?? [];
  const inQuery = [...url.matchAll(/[?&]password=([^&]*)/g)].map(([, value = '']) => value);
  const given = [url, inAddress, ...inQuery];
  const secrets = given.flatMap((one) => [one, decoded(one)]);
  const parts = [inAddress, decoded(inAddress)].flatMap((one) => one.split(/[@:/?#[\]\\]/));
  return [...secrets, ...parts]
    .filter((secret) => secret.length > 2)
    .sort((one, other) => other.length - one.length)
    .reduce((left, secret) => left.replaceAll(secret, '***'), text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
