import { inspect, types } from 'node:util';

/** Properties of errors from databases and their libraries. The message of an error that has one can quote values. */
const OF_DATABASES = [
  'severity',
  'errcode',
  'query',
  'sql',
  'params',
  'parameters',
  'criteria',
  'clientVersion',
];
/** SQLSTATE classes whose messages name tables, columns and constraints only; 42601 quotes the statement. */
const NAMING = /^(?!42601)(?:08|23|25|28|40|42|53|54|55|57|58)[0-9A-Z]{3}$/;
/** A code of Prisma, or a SQLSTATE. */
const CODE = /^[0-9A-Z]{5}$/;
/** The message was written by a trigger of the merchant. */
const SQLITE_CONSTRAINT_TRIGGER = 1811;
/** PostgreSQL refuses every statement after one that failed. */
const ABORTED = '25P02';
const CAUGHT =
  ': an earlier statement of this transaction failed, and its error was caught. Let it leave the handler';
const MAX_CAUSES = 5;
const UNTOLD = ' (its message can quote values, so only onError gets it)';

/**
 * What is stored and printed about an error that a handler threw. A message of a database or its library can quote the values of a
 * statement, such as a phone number. Of such an error, only the code and what the database says without values is used
 * (decision D64).
 */
export function failureText(error: unknown): string {
  if (!isError(error)) return inspect(error, { depth: -1 });
  const quoting = linksOf(error).filter((link) => OF_DATABASES.some((name) => name in link));
  const isQuoted = quoting.some((link) => link === error || error.message.includes(link.message));
  if (!isQuoted) return `${error.name}: ${error.message}`;
  const told =
    quoting.flatMap((link) => factOf(link) ?? []).at(-1) ??
    `an error of the database or its library${UNTOLD}`;
  return `${error.name}: ${told}`;
}

/** The same with the stack and the causes. */
export function failureStack(error: unknown, causes = 3): string {
  const text = failureText(error);
  if (!isError(error)) return text;
  const isWhole = text === `${error.name}: ${error.message}`;
  const calls = (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at '));
  const own = isWhole ? (error.stack ?? text) : [text, ...calls].join('\n');
  return causes > 0 && isError(error.cause)
    ? `${own}\nCaused by: ${failureStack(error.cause, causes - 1)}`
    : own;
}

function linksOf(error: Error): readonly Error[] {
  const links = [error];
  for (let link: unknown = error.cause; isError(link) && links.length < MAX_CAUSES; link = link.cause)
    links.push(link);
  return links;
}

/** One error of the chain, without values. */
function factOf(link: Error): string | undefined {
  const { code, errcode, severity, meta }: Members = { ...link };
  if (typeof errcode === 'number') {
    const isPlain = errcode !== SQLITE_CONSTRAINT_TRIGGER && !/["'`]/.test(link.message);
    return isPlain ? `${link.message} (SQLITE_${errcode})` : `SQLITE_${errcode}${UNTOLD}`;
  }
  if (typeof code !== 'string' || !CODE.test(code)) return undefined;
  // Knex writes the statement with its values in front of the message.
  const said = `${link.message.split(' - ').at(-1)} (${code})`;
  if (severity !== undefined && NAMING.test(code)) return code === ABORTED ? said + CAUGHT : said;
  return `${[code, ...namesIn(meta)].join(' ')}${UNTOLD}`;
}

/** From Prisma's `meta`: the model, the fields or the constraint, and the code of the database. */
function namesIn(meta: unknown): readonly string[] {
  const { modelName, target, driverAdapterError }: Members = { ...Object(meta) };
  const { originalCode, constraint }: Members = { ...Object(Object(driverAdapterError).cause) };
  const { fields, index }: Members = { ...Object(constraint) };
  const names = [modelName, target, fields, index, originalCode].flat().map(String);
  return names
    .flatMap((name) => /^"?(\w{1,63})"?$/.exec(name)?.[1] ?? [])
    .filter((name) => name !== 'undefined');
}

/** The codes of an error and of its causes, including the database's own code below an error of Prisma. */
export function codesOf(error: unknown): readonly unknown[] {
  if (!isError(error)) return [];
  return linksOf(error).flatMap((link) => {
    const { code, meta }: Members = { ...link };
    const { code: own, driverAdapterError }: Members = { ...Object(meta) };
    return [code, own, Object(Object(driverAdapterError).cause).originalCode];
  });
}

type Members = Readonly<Record<string, unknown>>;

/** Also recognizes errors of another realm, such as that of a test runner. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}
