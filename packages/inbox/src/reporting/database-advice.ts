import { failureCode } from './events.ts';

const NETWORK =
  'Probably a firewall blocks the connection, the server is overloaded, or a commit waits for a standby.';
const HOST =
  'Correct the host name, or the DNS of this machine. DATABASE_URL must be a whole address, without quotation marks.';
const RIGHTS = 'Let the user of your program write the file, its -wal and -shm files, and their folder.';
const FULL = 'Free space on the disk of the database.';
/** By the code of an error. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    'Probably no server runs at this address, or DATABASE_URL is not set and this is its default. Start it, or correct the host and the port.',
  ENOTFOUND: HOST,
  EAI_AGAIN: HOST,
  ERR_INVALID_URL: 'Correct DATABASE_URL. In a password, write / as %2F, ? as %3F, # as %23 and @ as %40.',
  ETIMEDOUT: NETWORK,
  '28P01': 'Correct the user and the password.',
  28000: 'Correct the user and the password, or pg_hba.conf of the server.',
  '3D000': 'Correct the name of the database, or create it.',
  53300: 'Give each pool a smaller max, or raise max_connections or the limit of the role.',
  53100: FULL,
  '57P03': 'The server is starting or stopping. Check its log.',
  42501: "Grant the role of your program the rights in the last lines of the output of 'sql'.",
  25006: 'Connect to the primary, and set default_transaction_read_only = off for the role and the database.',
  SQLITE_5: 'Find the program that holds the lock, and let its transaction end.',
  SQLITE_8: RIGHTS,
  SQLITE_11: 'Restore the file from a backup, and keep its spool.',
  SQLITE_13: FULL,
  SQLITE_14: RIGHTS,
  SQLITE_26: 'Correct --database, or restore the file from a backup.',
};

/** What to do about an error of a database, by its code; undefined if that is not known. */
export function adviceOn(error: unknown): string | undefined {
  const code = failureCode(error).replace(/^SQLITE_(\d+)$/, (_, digits) => `SQLITE_${Number(digits) & 255}`);
  const text = error instanceof Error ? error.message : '';
  return Object.hasOwn(ADVICE, code) ? ADVICE[code] : /timeout/i.test(text) ? NETWORK : undefined;
}
