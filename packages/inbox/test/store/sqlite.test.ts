import { join } from 'node:path';
import { UnavailableError } from '@payment-service/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { evidence, paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { newMerchant } from '../support/merchant.ts';
import { newShop, ORDER } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { signal, until, untilDone } from '../support/until.ts';
import { startWork, workOff } from '../support/working.ts';

describe('two processes on one sqlite file', () => {
  it('who cannot write within storeTimeoutMs says so, and keeps the callback in the spool', async () => {
    const merchant = await newMerchant('sqlite');
    const inbox = merchant.open({ storeTimeoutMs: 300 });
    await inbox.ready();
    await merchant.transaction(async () => {
      await inbox.receive(paid('A', 500));
      expect(await inbox.health()).toMatchObject({ ok: false, spooled: 1 });
    });
    await until(() => merchant.events.some(({ name }) => name === 'spool.drained'));
    expect(await inbox.list()).toHaveLength(1);
  });

  it('a look does not wait for who writes', async () => {
    const merchant = await newMerchant('sqlite');
    const inbox = merchant.open();
    await inbox.receive(paid('A', 500));
    await merchant.transaction(async (tx) => {
      await merchant.credit(tx, 'own', '1');
      expect(await inbox.list()).toHaveLength(1);
    });
  });
});

describe('a transaction on sqlite', () => {
  it('refuses inside it everything that writes to the inbox by itself, since it would wait for itself', async () => {
    const { merchant, inbox } = await newShop('sqlite');
    await inbox.ready();
    await inbox.transaction(async (tx) => {
      const calls = [
        () => inbox.transaction(async () => undefined),
        () => inbox.expect(ORDER),
        () => inbox.prune(),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ option: 'tx' });
      await inbox.expect(ORDER, { tx });
      await merchant.credit(tx, 'own', '1');
    });
    expect(await inbox.overdue()).toEqual([]);
    expect(await merchant.credits()).toHaveLength(1);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
  });

  it('refuses a callback inside it without losing it: the spool keeps it', async () => {
    const { merchant, inbox } = await newShop('sqlite');
    await inbox.ready();
    await inbox.transaction(async () => {
      await Promise.allSettled([inbox.receive(paid('ORD-1', 500)), inbox.quarantine(evidence('ambiguous'))]);
    });
    await untilDone(() => inbox.receive(paid('ORD-1', 500)));
    expect(await inbox.list({ merchant_reference: 'ORD-1' })).toHaveLength(1);
    expect(await merchant.credits()).toEqual([]);
  });

  it.each([
    ['fails', 'insert into no_such_table values (1)'],
    ['rolls back by itself', 'insert or rollback into once values (1)'],
  ])('a statement that %s fails it, although the body went on, as on postgres', async (_how, statement) => {
    const { merchant, inbox } = await newShop('sqlite');
    await merchant.query('create table once (id integer primary key)');
    await merchant.query('insert into once values (1)');
    const failed = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'before', '1');
      await tx.query(statement).catch(() => undefined);
      await merchant.credit(tx, 'after', '1').catch(() => undefined);
    });
    await expect(failed).rejects.toThrow(/rolled back|was ended/);
    expect(await merchant.credits()).toEqual([]);
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await merchant.credits()).toHaveLength(1);
  });

  it('takes no statement after its end', async () => {
    const { merchant, inbox } = await newShop('sqlite');
    const tx = await inbox.transaction(async (given) => given);
    await expect(merchant.credit(tx, 'late', '1')).rejects.toMatchObject({ option: 'tx' });
    expect(await merchant.credits()).toEqual([]);
  });

  it('of which a handler does not end holds up no other for longer than handlerTimeoutMs', async () => {
    const { merchant, inbox } = await newShop(
      'sqlite',
      { handlerTimeoutMs: 200 },
      () => new Promise(() => {}),
    );
    await inbox.expect(ORDER);
    await untilDone(() => inbox.receive(paid('ORD-1', 500)));
    const stop = startWork(inbox);
    await until(() => merchant.events.some(({ name }) => name === 'transition.retrying'));
    await inbox.transaction((tx) => merchant.credit(tx, 'next', '1'));
    expect(await inbox.list()).toMatchObject([{ lastError: expect.stringContaining('handlerTimeoutMs') }]);
    await stop();
  });

  it('a value that cannot go to the thread is refused, and keeps no program from ending', async () => {
    const merchant = await newMerchant('sqlite');
    await merchant.open().ready();
    const { ended } = startChild('unsendable-value.ts', merchant.programArguments);
    expect(await ended).toMatchObject({ code: 0, output: 'DataCloneError\n1\n' });
  });

  it('takes and gives what SQLite has: by position and by name, large integers, bytes, and how many rows', async () => {
    const inbox = createInbox({ store: sqlite(join(temporaryFolder(), 'x.db')) });
    onTestFinished(() => inbox.close());
    await inbox.transaction(async (tx) => {
      await tx.query('create table own (number integer, bytes blob) strict');
      const bytes = new Uint8Array([0, 255]);
      expect(await tx.query('insert into own values (?, ?)', [2n ** 53n - 1n, bytes])).toEqual({
        rows: [],
        rowCount: 1,
      });
      const { rows } = await tx.query('select * from own where number > $least', { $least: 5 });
      expect(rows).toEqual([{ number: 2 ** 53 - 1, bytes }]);
      expect((await tx.query('update own set number = 1')).rowCount).toBe(1);
      expect((await tx.query('update own set number = 1 where number = 7')).rowCount).toBe(0);
    });
  });
});

describe('closing an inbox on sqlite', () => {
  it('lets what runs end, gives the file back, and refuses what comes after it', async () => {
    const { merchant, inbox } = await newShop('sqlite');
    const [isRunning, mayEnd] = [signal(), signal()];
    const running = inbox.transaction(async (tx) => {
      await merchant.credit(tx, 'A', '1');
      isRunning.give();
      await mayEnd.promise;
    });
    await isRunning.promise;
    const closed = inbox.close();
    mayEnd.give();
    await Promise.all([running, closed]);
    expect(await merchant.credits()).toHaveLength(1);
    await expect(inbox.receive(paid('A', 500))).rejects.toThrow(UnavailableError);
    await expect(inbox.list()).rejects.toMatchObject({ option: 'inbox' });
    await merchant.query(`drop table ${merchant.table('action')}`);
  });

  it('takes nothing from another inbox on the same store', async () => {
    const store = sqlite(join(temporaryFolder(), 'x.db'));
    const [one, other] = [createInbox({ store, account: 'A' }), createInbox({ store, account: 'B' })];
    onTestFinished(() => other.close());
    other.handle(() => undefined);
    await one.receive(paid('ORD-1', 500, {}, { account: 'A' }));
    await other.expect(ORDER);
    const [isRunning, mayEnd] = [signal(), signal()];
    const running = other.transaction(async (tx) => {
      await tx.query('create table kept (id integer)');
      isRunning.give();
      await mayEnd.promise;
      await tx.query('insert into kept values (1)');
    });
    await isRunning.promise;
    const closed = one.close();
    mayEnd.give();
    await Promise.all([running, closed]);
    await other.receive(paid('ORD-1', 500, {}, { account: 'B' }));
    await workOff(other);
    expect(await other.list()).toMatchObject([{ state: 'settled' }]);
  });

  it('a program that does not close it can end all the same', async () => {
    const merchant = await newMerchant('sqlite');
    const { ended } = startChild('open-and-end.ts', merchant.programArguments);
    expect(await ended).toMatchObject({ code: 0, output: 'kept\n' });
  });
});
