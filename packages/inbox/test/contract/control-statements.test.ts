import { ConfigurationError } from '@payment-service/core';
import { describe, expect, it } from 'vitest';
import { ENGINES } from '../support/merchant.ts';
import { newDueShop, newShop } from '../support/shop.ts';
import { workOff } from '../support/working.ts';

const COMMIT = {
  postgres: [
    '/* outer /* inner */ still a comment */ commit',
    '-- note\rcommit',
    ';/**/;\fcommit',
    "prepare/**/transaction 'x'",
  ],
  sqlite: [
    '/* outer /* inner */ commit',
    '\uFEFFcommit',
    '\uFEFF/**/\uFEFFcommit',
    ';-- \r\n;end/**/transaction',
  ],
} as const;

const CHANGES = {
  postgres: [
    'set transaction isolation level serializable',
    'set/**/session/**/characteristics as transaction read only',
    "set local transaction_isolation = 'repeatable read'",
    'set synchronous_commit = off',
    'reset all',
    'discard all',
    'deallocate all',
  ],
  sqlite: [
    'pragma locking_mode = exclusive',
    'explain pragma query_only = on',
    'pragma fullfsync(off)',
    "attach ':memory:' as other",
  ],
} as const;

const HARMLESS = {
  postgres: [
    "set local statement_timeout = '10s'",
    'set constraints all immediate',
    'show transaction_isolation',
  ],
  sqlite: ['pragma journal_mode', 'pragma table_info(credit)', 'pragma defer_foreign_keys = on'],
} as const;

describe.each(ENGINES)('control statements in a transaction on %s', (engine) => {
  it.each(COMMIT[engine])('a handler cannot commit with %j', async (text) => {
    const { merchant, inbox } = await newDueShop(engine);
    let error: unknown;
    inbox.handle(async ({ tx }) => {
      await merchant.credit(tx, 'ORD-1', '500');
      error = await tx.query(text).catch(same);
      throw new Error('undo');
    });
    await workOff(inbox);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ option: 'text' });
    expect(await merchant.credits()).toEqual([]);
    expect(await inbox.list()).toMatchObject([{ state: 'retrying' }]);
  });

  it.each(CHANGES[engine])('nor change the connection with %j', async (text) => {
    const { merchant, inbox } = await newDueShop(engine);
    const errors: unknown[] = [];
    await inbox.transaction(async (tx) => errors.push(await tx.query(text).catch(same)));
    inbox.handle(async ({ tx }) => {
      errors.push(await tx.query(text).catch(same));
      await merchant.credit(tx, 'ORD-1', '500');
    });
    await workOff(inbox);
    expect(errors).toEqual([expect.any(ConfigurationError), expect.any(ConfigurationError)]);
    expect(await merchant.credits()).toHaveLength(1);
    expect(await inbox.list()).toMatchObject([{ state: 'settled' }]);
  });

  it.each(HARMLESS[engine])('%j is no control', async (text) => {
    const { merchant, inbox } = await newShop(engine);
    await inbox.transaction(async (tx) => {
      await tx.query(text);
      await merchant.credit(tx, 'order', '500');
    });
    expect(await merchant.credits()).toHaveLength(1);
  });
});

const same = (error: unknown): unknown => error;
