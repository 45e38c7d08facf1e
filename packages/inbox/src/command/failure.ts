import { getSystemErrorMap } from 'node:util';
import { ConfigurationError, InvalidInputError, PaymentServiceError } from '@payment-service/core';
import type { Command } from 'commander';
import { adviceOn } from '../reporting/database-advice.ts';

/** A mistake in the options of a verb: exit code 2. */
export class WrongUse extends Error {}

/** An error of the inbox names members of the API: its message for a user of the verb, who has flags instead. */
export function inFlags(error: unknown, { parent, options, registeredArguments }: Command): unknown {
  if (!(error instanceof PaymentServiceError)) return error;
  const flags = new Map(registeredArguments.map((each) => [each.name(), each.name().toUpperCase()]));
  for (const each of [...(parent?.options ?? []), ...options])
    flags.set(each.attributeName(), each.long ?? each.flags);
  if (flags.has('reference')) flags.set('merchant_reference', 'REFERENCE');
  const flagOf = (name: string): string => flags.get(name) ?? name;
  const message = error.message
    .replace(/^\w+\(\): /, '')
    .replace(/\b(\w+): \{ ([\w, ]+) \}/g, (_, name, members) =>
      [name, ...members.split(', ')].map(flagOf).join(', '),
    )
    .replace(/^\w+|(?<=\b(?:[Pp]ass|near) (?:\w+ and )?)\w+|\b[a-z]+[A-Z]\w*\b/g, flagOf);
  const isOfFlag =
    (error instanceof ConfigurationError && flags.has(error.option)) ||
    (error instanceof InvalidInputError && flags.has(error.field));
  return isOfFlag ? new WrongUse(message) : new Error(message, { cause: error });
}

/** The message of an error, and what to do about it if the database refused it. */
export function explained(error: unknown): string {
  return [messageOf(error), adviceOn(error)].filter((part) => part !== undefined).join('\n');
}

/** The message of an error, for the user of the command. Node's error after a refused connection has no message of its own. */
export function messageOf(error: unknown): string {
  return withoutSecrets(textOf(error), process.env['DATABASE_URL']);
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : error.name;
  if (error instanceof AggregateError) return error.errors.map(textOf).join(', ') || code;
  const { errno, path }: Readonly<Record<string, unknown>> = { ...error };
  const [, reason] = getSystemErrorMap().get(Number(errno)) ?? [];
  // An error of a file.
  if (typeof path === 'string' && reason !== undefined) return `${path} cannot be opened: ${reason}.`;
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
