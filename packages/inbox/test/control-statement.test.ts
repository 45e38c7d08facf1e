import { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '@payment-service/core';
import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { refuseControlStatement } from '../src/control-statement.ts';
import type { Dialect } from '../src/sql-pieces.ts';

const DIALECTS: readonly Dialect[] = ['postgres', 'sqlite'];

/** What may stand in a comment of either engine and does not end it. */
const inComment = fc
  .array(fc.constantFrom('a', 'commit', "'", '"', '$$', ';', '--', ' ', '\u00e9'), { maxLength: 4 })
  .map((parts) => parts.join(''));

const nested = fc.letrec<{ block: string }>((tie) => ({
  block: fc
    .array(fc.oneof({ maxDepth: 3 }, inComment, tie('block')), { maxLength: 3 })
    .map((parts) => `/*${parts.join('\n')}*/`),
})).block;

const BLANK = {
  postgres: [
    fc.constantFrom(' ', '\t', '\n', '\r', '\v', '\f'),
    fc.tuple(inComment, fc.constantFrom('\n', '\r', '\r\n')).map(([text, end]) => `--${text}/*${end}`),
    nested,
  ],
  sqlite: [
    fc.constantFrom(' ', '\t', '\n', '\r', '\f', ' \v', ' \uFEFF'),
    inComment.map((text) => `--${text}\r/*\n`),
    inComment.map((text) => `/*/* ${text} /**/`),
  ],
} as const;

function blanks(dialect: Dialect, minLength: number): fc.Arbitrary<string> {
  return fc.array(fc.oneof(...BLANK[dialect]), { minLength, maxLength: 6 }).map((parts) => parts.join(''));
}

/** Before a statement the engines pass over semicolons as well. */
function lead(dialect: Dialect): fc.Arbitrary<string> {
  return fc
    .array(fc.oneof(blanks(dialect, 0), fc.constant(dialect === 'sqlite' ? ';\uFEFF' : ';')), {
      maxLength: 4,
    })
    .map((it) => it.join(''));
}

const isRefused = (text: string, dialect: Dialect): boolean => {
  try {
    refuseControlStatement(text, dialect);
    return false;
  } catch (error) {
    if (error instanceof ConfigurationError) return true;
    throw error;
  }
};

const COMMON = [
  'begin',
  'Commit',
  'END',
  'rollback to x',
  'savepoint x',
  'release x',
  'start',
  'abort',
  "prepare transaction 'x'",
];
const REFUSED = {
  postgres: [
    ...COMMON,
    'set transaction read only',
    'SET LOCAL transaction isolation level serializable',
    'set session characteristics as transaction read only',
    "set transaction_isolation = 'serializable'",
    'set local "transaction_isolation" to default',
    'set session default_transaction_read_only = on',
    'set synchronous_commit = off',
    'set session synchronous_commit to off',
    'reset transaction_read_only',
    'reset all',
    'discard all',
    'deallocate all',
    'deallocate prepare all',
  ],
  sqlite: [
    ...COMMON,
    'pragma locking_mode = exclusive',
    'pragma main . query_only ( on )',
    'explain query plan pragma "main" . "fullfsync" = off',
    "attach 'other.db' as other",
    'detach database other',
  ],
} as const;
const TAKEN = {
  postgres: [
    'select 1',
    'update commit set a = 1',
    'with x as (select 1) select 1',
    "insert into begin values ('commit')",
    "set local statement_timeout = '1s'",
    'set constraints all deferred',
    'set session authorization default',
    "set local time zone 'UTC'",
    'set local synchronous_commit = remote_apply',
    'reset role',
    'deallocate mine',
    'prepare transactions as select 1',
    'show transaction_isolation',
    "pragma locking_mode = 'exclusive'",
  ],
  sqlite: [
    'select 1',
    'update t set a = 1',
    'with x as (select 1) select 1',
    "insert into t values ('commit')",
    'pragma journal_mode',
    'pragma main . synchronous',
    'pragma table_info(t)',
    'pragma foreign_key_check = t',
    'pragma user_version = 5',
    'pragma defer_foreign_keys = on',
    'explain query plan select 1',
    'set transaction read only',
  ],
} as const;

describe.each(DIALECTS)('control statements of %s', (dialect) => {
  /** With something to pass over before it, and between each two of its words. */
  const dressed = (text: string): fc.Arbitrary<string> => {
    const words = text.split(' ');
    const between = fc.array(blanks(dialect, 1), { minLength: words.length, maxLength: words.length });
    return fc
      .tuple(lead(dialect), between)
      .map(([start, gaps]) => start + words.map((word, at) => `${word}${gaps[at]}`).join(''));
  };

  it.each(REFUSED[dialect])('%s is refused, whatever stands before it and in it', (text) => {
    expect(isRefused(text, dialect)).toBe(true);
    fc.assert(fc.property(dressed(text), (each) => isRefused(each, dialect)));
  });

  it.each(TAKEN[dialect])('%s is taken, whatever stands before it and in it', (text) => {
    expect(isRefused(text, dialect)).toBe(false);
    fc.assert(fc.property(dressed(text), (each) => !isRefused(each, dialect)));
  });

  it('takes a text that says nothing', () => {
    fc.assert(fc.property(lead(dialect), (text) => !isRefused(text, dialect)));
  });

  it('reads a text in linear time, however it is made', () => {
    // Quadratic work on any of these would outlast the deadline of the test by far.
    for (const piece of ['/*', '/**/', '--', '--\n', '-', '/', '*/', ';', ' ', 'a', '"', '\uFEFF', '\r']) {
      isRefused(piece.repeat(500_000), dialect);
    }
  });
});

it('a comment ends where the engine says', () => {
  const both = (text: string): boolean[] => DIALECTS.map((dialect) => isRefused(text, dialect));
  expect(both('/* a /* b */ commit')).toEqual([false, true]);
  expect(both('/* a /* b */ c */ commit')).toEqual([true, false]);
  expect(both('-- a\rcommit')).toEqual([true, false]);
  expect(both(' \vcommit')).toEqual([true, true]);
  expect(both('\uFEFFcommit')).toEqual([false, true]);
  expect(both('/* commit')).toEqual([false, false]);
});

describe('whatever an engine takes for COMMIT is refused', () => {
  const PIECES = [
    ' ',
    '\t',
    '\n',
    '\r',
    '\v',
    '\f',
    '\uFEFF',
    '\u00a0',
    ';',
    '--',
    '-',
    '/*',
    '*/',
    '*',
    '/',
    'x',
  ];
  const text = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 8 })
    .map((pieces) => `${pieces.join('')}commit`);

  it('sqlite', () => {
    const database = new DatabaseSync(':memory:');
    onTestFinished(() => database.close());
    const ends = (each: string): boolean => {
      database.exec('begin');
      try {
        database.prepare(each).all();
      } catch {}
      try {
        database.exec('rollback');
        return false;
      } catch {
        return true;
      }
    };
    expect(ends('/* /* */ commit')).toBe(true);
    expect(ends('-- \rcommit')).toBe(false);
    fc.assert(
      fc.property(text, (each) => !ends(each) || isRefused(each, 'sqlite')),
      { numRuns: 5000 },
    );
  });

  it('postgres', async () => {
    const client = new pg.Client({ connectionString: inject('postgresUrl') });
    await client.connect();
    onTestFinished(() => client.end());
    const ends = async (each: string): Promise<boolean> => {
      await client.query('begin');
      const statement = { text: each, queryMode: 'extended' } as const;
      const command = await client.query(statement).then(
        (result) => result.command,
        () => undefined,
      );
      if (command === 'COMMIT') return true;
      await client.query('rollback');
      return false;
    };
    expect(await ends('/* /* */ */ commit')).toBe(true);
    expect(await ends('/* /* */ commit')).toBe(false);
    const property = fc.asyncProperty(
      text,
      async (each) => !(await ends(each)) || isRefused(each, 'postgres'),
    );
    await fc.assert(property, { numRuns: 1000 });
  });
});
