/**
 * The mistakes of a first week with payment-service-inbox: what is typed, the words that name it, and those that say what to do, all
 * on stderr and in the words of the command.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand, wordsIn } from '../support/command.ts';
import { newMerchant } from '../support/merchant.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

type Mistake = readonly [
  what: string,
  /** DB is the database of an inbox, and FOLDER one with the files below. */
  typed: string,
  named: RegExp,
  fix: RegExp,
  env?: Readonly<Record<string, string>>,
];

const FILES = { 'notes.txt': 'no database'.repeat(100), 'moved.json': '[{"kind": "paid_out",}]' };
const BY = '--by dana --note January';
const JANUARY = '--from 2026-01-01 --to 2026-02-01';

const MISTAKES: readonly Mistake[] = [
  ['no database', 'payments', /Name the database/, /--database <path>, or DATABASE_URL in the environment/],
  [
    'a file that is not there',
    'payments --database FOLDER/shop.db',
    /There is no file \S+shop\.db/,
    /Give --database the path that your program gives sqlite\(\), seen from this folder/,
  ],
  ['a folder as the database', 'payments --database FOLDER', /There is no file/, /Give --database the path/],
  [
    'another file as the database',
    'payments --database FOLDER/notes.txt',
    /file is not a database/,
    /Correct --database/,
  ],
  [
    'a server that is not there',
    'payments',
    /ECONNREFUSED/,
    /Probably no server runs at this address.* correct the host and the port/,
    { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/shop' },
  ],
  [
    'DATABASE_URL in quotation marks',
    'payments',
    /ENOTFOUND/,
    /DATABASE_URL must be a whole address, without quotation marks/,
    { DATABASE_URL: '"postgres://u:p@127.0.0.1:1/shop"' },
  ],
  ['another account', 'report 1 --acount north DB', /unknown option '--acount'/, /Did you mean --account\?/],
  ['a mistyped verb', 'paymnts DB', /unknown command 'paymnts'/, /Did you mean payments\?/],
  ['no payment', 'payment DB', /Name one payment/, /its REFERENCE, or --internal-reference/],
  [
    'a reference that is not known',
    'payment ORD-7 DB',
    /Nothing is known about this payment/,
    /'payments --search' finds a part of a reference/,
  ],
  [
    'an amount with groups',
    'expect ORD-7 --amount 5,000 --currency UGX DB',
    /The amount must be a decimal/,
    /such as 1999\.90/,
  ],
  [
    'a date in words',
    'payments --since January DB',
    /option '--since <date>' argument 'January' is invalid/,
    /such as 2026-01-31/,
  ],
  [
    'a reference as the id of a report',
    'report ORD-1 DB',
    /An id must have 64 lower-case hexadecimal digits/,
    /'reports' prints it/,
  ],
  [
    'a statement that is not there',
    `reconcile FOLDER/none.csv ${JANUARY} ${BY} DB`,
    /none\.csv cannot be opened/,
    /no such file or directory/,
  ],
  [
    'a list of movements that is not JSON',
    `reconcile ${JANUARY} --credited-before 1 --credited-after 1 --movements FOLDER/moved.json DB`,
    /--movements must be a JSON list/,
    /position 21/,
  ],
];

test('mistakes on the command line are named with their fix, in the words of the command', async () => {
  const merchant = await newMerchant('sqlite');
  const [, database = ''] = merchant.programArguments;
  const folder = join(temporaryFolder(), 'given');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  for (const [what, typed, named, fix, env] of MISTAKES) {
    const line = typed.replace('FOLDER', folder).replace(/ DB$/, ` --database ${database}`);
    const { code, stdout, stderr } = await runCommand(wordsIn(line), env);
    expect({ what, stdout, isDone: code === 0 }).toEqual({ what, stdout: '', isDone: false });
    expect(stderr, what).toMatch(named);
    expect(stderr, what).toMatch(fix);
    // Of the flags, and not of the API.
    expect(stderr.replaceAll(/\/\S+/g, ''), what).not.toMatch(/\b[a-z]+[A-Z]\w*\b/);
  }
});
