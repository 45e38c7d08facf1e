import { ConfigurationError } from '@payment-service/core';
import { printable } from '@payment-service/core/internal';
import { failureCode } from '../../events.ts';
import { messageOf } from '../failure.ts';

/** The finding of a check. */
export interface Finding {
  readonly check: string;
  /** A problem needs an operator. With a notice, payments are still kept and applied. */
  readonly level: 'problem' | 'notice';
  readonly seen: string;
  readonly why: string;
  readonly todo: string;
}

type Tag = (parts: TemplateStringsArray, ...values: readonly (string | number)[]) => Finding;

/** Three lines: the check and what it observed, why that matters, what to do. */
const tag =
  (level: Finding['level']): Tag =>
  (parts, ...values) => {
    const text = String.raw(parts, ...values.map((value) => printable(String(value))));
    const [first = '', why = '', todo = ''] = text.split('\n').map((line) => line.trim());
    const [check = ''] = first.split(': ', 1);
    return { check, level, seen: first.slice(check.length + 2), why, todo };
  };
export const problem: Tag = tag('problem');
export const notice: Tag = tag('notice');

const NETWORK =
  'Probably a firewall blocks the connection, the server is overloaded, or a commit waits for a standby.';
const HOST = 'Correct the host name, or the DNS of this machine.';
const RIGHTS = 'Let the user of your program write the file, its -wal and -shm files, and their folder.';
const FULL = 'Free space on the disk of the database.';
/** By the code of an error. */
const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Probably no server runs at this address. Start it, or correct the host and the port.',
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

/** The database failed at what a callback needs. */
export function failure(check: string, error: unknown): Finding {
  const code = failureCode(error).replace(/^SQLITE_(\d+)$/, (_, digits) => `SQLITE_${Number(digits) & 255}`);
  const seen = messageOf(error);
  const advice =
    ADVICE[code] ?? (/timeout/i.test(seen) ? NETWORK : 'Fix what the message says, and run doctor again.');
  const todo = error instanceof ConfigurationError ? 'Do what the message says.' : advice;
  return problem`${check}: ${seen}
    No callback can be stored here: callbacks wait in the spool, or are answered with 429, and none is applied.
    ${todo}`;
}

export function uncheckable(check: string, error: unknown): Finding {
  return notice`${check}: This could not be checked: ${messageOf(error)}
    The problem that it looks for could exist without a finding.
    Run doctor with a role that may read it, or check it by hand.`;
}
