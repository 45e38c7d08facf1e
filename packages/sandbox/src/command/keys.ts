import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { SandboxAccount } from '../state/account.ts';
import { forOwnerOnly } from '../state/owner-only.ts';
import { CommandError, hasCode } from './command-error.ts';

/** In the folder where the command runs, so that each project has a sandbox of its own. */
const DIRECTORY = '.payment-service-sandbox';

/** Where `start` leaves its address and keys for the other commands. */
export const OWN_KEYS_FILE: string = join(DIRECTORY, 'keys.env');

/** The file of the state, in a directory that version control leaves out. Makes the directory. */
export function ownStateFile(): string {
  try {
    mkdirSync(DIRECTORY, { recursive: true, mode: 0o700 });
    forOwnerOnly(DIRECTORY);
    writeFileSync(join(DIRECTORY, '.gitignore'), '*\n');
  } catch (cause) {
    throw new CommandError(
      `${DIRECTORY} could not be created in the working directory. Choose another file with --file, or start with --memory.`,
      1,
      { cause },
    );
  }
  return join(DIRECTORY, 'state.sqlite');
}

/** The variables that the programs of the documents read. */
export interface KeyVariables {
  readonly BASE_URL: string;
  readonly PUBLIC_KEY: string;
  readonly SECRET_KEY: string;
  readonly SIGNING_KEY: string;
}

/** Variables as they were found, and where. */
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

/**
 * Writes the variables to a file that only its owner can read. Other lines of the file stay: it may be a program's own
 * `.env`.
 */
export function writeKeys(path: string, variables: KeyVariables): void {
  const isOurs = new RegExp(`^\\s*(?:export\\s+)?(?:${Object.keys(variables).join('|')})\\s*=`);
  const kept = (readIfThere(path) ?? '').split('\n').filter((line) => !isOurs.test(line));
  while (kept.at(-1) === '') kept.pop();
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  try {
    // First: the mode below is for a new file only.
    forOwnerOnly(path);
    writeFileSync(path, `${[...kept, ...lines].join('\n')}\n`, { mode: 0o600 });
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'EISDIR', 'EROFS', 'EPERM')) throw cause;
    throw new CommandError(
      `The keys could not be written to ${path}. Its directory must exist, and be writable.`,
      1,
      { cause },
    );
  }
}

/**
 * Reads the keys: of the file that is named, or else of the environment, or else of the file that `start` has left in this
 * folder. Never from arguments, which every user of the computer can read.
 */
export function readKeys(keysFile: string | undefined): FoundKeys {
  if (keysFile !== undefined) {
    const text = readIfThere(keysFile);
    if (text === undefined) throw new CommandError(`${keysFile} does not exist.`);
    return { variables: parseEnv(text), source: keysFile };
  }
  if (NAMES.some((name) => process.env[name])) {
    return { variables: process.env, source: 'the environment' };
  }
  const text = readIfThere(OWN_KEYS_FILE);
  if (text !== undefined) return { variables: parseEnv(text), source: OWN_KEYS_FILE };
  throw new CommandError(
    `No keys were found. Run this in the folder where the sandbox was started, set ${NAMES.join(', ')}, or name a file with --keys-file.`,
    2,
  );
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new CommandError(`${path} could not be read.`, 1, { cause: error });
  }
}
