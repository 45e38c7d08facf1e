import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { SandboxAccount } from '../state/account.ts';
import { forOwnerOnly } from '../state/files.ts';
import { asObject, readJson } from '../state/json-values.ts';
import { CommandError, hasCode, reasonOf, UsageError } from './failures.ts';

/** A sandbox, and the keys to its API. */
export interface Session {
  /** Calls `/sandbox/…` and returns its data. Throws a CommandError with the sandbox's message. */
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<Record<string, unknown>>;
}

export interface SessionOptions {
  readonly sandbox?: string;
  readonly keysFile?: string;
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const DEFAULT_URL = 'http://127.0.0.1:4010';

/** A session with a running sandbox. */
export function openSession({ sandbox, keysFile }: SessionOptions): Session {
  const { variables, source } = readKeys(keysFile);
  const url = (sandbox ?? variables.BASE_URL ?? DEFAULT_URL).replace(/(?<!\/)\/+$/, '');
  for (const name of ['PUBLIC_KEY', 'SECRET_KEY'] as const) {
    // The keys of a real account must not reach another program that happens to listen there.
    if (variables[name]?.startsWith('SANDBOX')) continue;
    throw new UsageError(
      `${name} of ${source} is not a sandbox key, so it was not sent. Name the file of the sandbox's keys with --keys-file.`,
    );
  }
  return sessionWith({ variables, source }, url, fetch);
}

/** A session whose requests go through `fetch`. */
export function sessionWith({ variables, source }: FoundKeys, url: string, fetch: Fetch): Session {
  const { PUBLIC_KEY = '', SECRET_KEY = '' } = variables;
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'public-key': PUBLIC_KEY,
    'secret-key': SECRET_KEY,
  };
  return {
    call: async (method, path, body) => {
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${url}${path}`, { method, headers, redirect: 'manual', ...content }).catch(
        (cause: unknown) => {
          const message = `No sandbox answers at ${url}. Start one with 'payment-service-sandbox', or name it with --sandbox.`;
          throw new CommandError(message, { cause });
        },
      );
      const { message, data: member } = asObject(readJson(await answer.text())) ?? {};
      const data = asObject(member);
      if (data === undefined) throw new CommandError(`The server at ${url} is not a sandbox.`);
      if (answer.status === 401) {
        throw new CommandError(`The sandbox at ${url} refuses the keys of ${source}: ${message}`);
      }
      if (!answer.ok) throw new CommandError(`The sandbox refused this: ${message}`);
      return data;
    },
  };
}

/** In the folder where the command runs, so that each project has its own sandbox. */
const DIRECTORY = '.payment-service-sandbox';

/** Where `start` writes its address and keys for the other commands. */
export const OWN_KEYS_FILE: string = join(DIRECTORY, 'keys.env');

/** The state file, in a directory that version control ignores. Creates the directory. */
export function ownStateFile(): string {
  try {
    mkdirSync(DIRECTORY, { recursive: true, mode: 0o700 });
    forOwnerOnly(DIRECTORY);
    writeFileSync(join(DIRECTORY, '.gitignore'), '*\n');
  } catch (cause) {
    const message = `${DIRECTORY} could not be created in the working directory: ${reasonOf(cause)}. Choose another file with --file, or start with --memory.`;
    throw new CommandError(message, { cause });
  }
  return join(DIRECTORY, 'state.sqlite');
}

/** The variables that the programs in the documentation read. */
export type KeyVariables = Readonly<Record<'BASE_URL' | 'PUBLIC_KEY' | 'SECRET_KEY' | 'SIGNING_KEY', string>>;

/** The variables that were found, and where. */
export interface FoundKeys {
  readonly variables: Partial<KeyVariables>;
  readonly source: string;
}

const NAMES = ['PUBLIC_KEY', 'SECRET_KEY', 'SIGNING_KEY'] as const;

export const keyVariables = (url: string, account: SandboxAccount): KeyVariables => ({
  BASE_URL: url,
  PUBLIC_KEY: account.publicKey,
  SECRET_KEY: account.secretKey,
  SIGNING_KEY: account.signingKey,
});

/** Writes the variables to a file that only its owner can read. Other lines are kept: it may be a program's `.env`. */
export function writeKeys(path: string, variables: KeyVariables): void {
  const isOurs = new RegExp(`^\\s*(?:export\\s+)?(?:${Object.keys(variables).join('|')})\\s*=`);
  const kept = (readIfThere(path) ?? '').split('\n').filter((line) => !isOurs.test(line));
  while (kept.at(-1) === '') kept.pop();
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  try {
    // First, because the mode below applies only to a new file.
    forOwnerOnly(path);
    writeFileSync(path, `${[...kept, ...lines].join('\n')}\n`, { mode: 0o600 });
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'EISDIR', 'EROFS', 'EPERM')) throw cause;
    const message = `The keys could not be written to ${path}: ${reasonOf(cause)}. Its directory must exist and be writable.`;
    throw new CommandError(message, { cause });
  }
}

/**
 * Reads the keys from the named file, or else from the environment, or else from the file that `start` wrote in this
 * folder. Never from arguments, which every user of the computer can read.
 */
export function readKeys(keysFile: string | undefined): FoundKeys {
  if (keysFile !== undefined) {
    const text = readIfThere(keysFile);
    if (text === undefined)
      throw new CommandError(`There is no file ${keysFile}. 'start --keys-file' writes it.`);
    return { variables: parseEnv(text), source: keysFile };
  }
  if (NAMES.some((name) => process.env[name])) {
    return { variables: process.env, source: 'the environment' };
  }
  const text = readIfThere(OWN_KEYS_FILE);
  if (text !== undefined) return { variables: parseEnv(text), source: OWN_KEYS_FILE };
  throw new UsageError(
    `No keys were found. Run this in the folder where the sandbox was started, set ${NAMES.join(', ')}, or name a file with --keys-file.`,
  );
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new CommandError(`${path} could not be read: ${reasonOf(error)}.`, { cause: error });
  }
}
