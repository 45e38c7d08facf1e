import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { createInbox, type Inbox, type SqliteTransaction, sqlite } from '../../src/index.ts';
import { databasePath } from '../../src/store/sqlite/database-path.ts';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { newMerchant } from '../support/merchant.ts';
import { creditIn, money, order } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pause, signal, untilDone, workUntilSettled } from '../support/until.ts';

// Only Linux reports the type of a file system and has a known path in memory: elsewhere this test does not exist.
const memories = process.platform === 'linux' ? ['/dev/shm'] : [];

function newInbox(path = join(temporaryFolder(), 'x.db')): Inbox<SqliteTransaction> {
  const inbox = createInbox({ store: sqlite(path) });
  onTestFinished(() => inbox.close());
  return inbox;
}

test('the path of a sqlite file on a network file system or in memory is refused', () => {
  const path = join(temporaryFolder(), 'x.db');
  expect(databasePath(path, 'path')).toBe(path);
  for (const [type, name] of [
    [0x6969, 'a network file system (NFS)'],
    [0x517b, 'a network file system (SMB)'],
    [0xff534d42, 'a network file system (CIFS)'],
    [0xfe534d42, 'a network file system (SMB2)'],
    [0x01021994, 'memory (tmpfs)'],
    [0x858458f6, 'memory (ramfs)'],
  ] as const) {
    const message = `path must be the path of a file on a local disk. This is ${name}, where acknowledged callbacks can be lost.`;
    const asked: string[] = [];
    const typeOf = (folder: string) => asked.push(folder) && type;
    expect(() => databasePath(path, 'path', typeOf)).toThrow(expect.objectContaining({ message }));
    expect(asked).toEqual([dirname(path)]);
  }
});

test.each(memories)(
  'the path of a sqlite file is refused in memory that looks like a disk, and as a link to it (%s)',
  (memory) => {
    const folder = mkdtempSync(join(memory, 'inbox-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const target = join(folder, 'x.db');
    expect(() => sqlite(target)).toThrow(/memory/);
    writeFileSync(target, '');
    const link = join(temporaryFolder(), 'x.db');
    symlinkSync(target, link);
    expect(() => sqlite(link)).toThrow(/memory/);
  },
);

test('a sqlite file that a handler or another process is writing can be read, and callbacks are spooled meanwhile', async () => {
  const merchant = await newMerchant('sqlite');
  const inbox = merchant.open({ storeTimeoutMs: 300 });
  const [isRunning, mayEnd] = [signal(), signal()];
  inbox.handle('paid', async (transition) => {
    isRunning.give();
    await mayEnd.promise;
    await creditIn(merchant)(transition);
  });
  await order(inbox, 'A');
  for (const reference of ['B', 'C']) await inbox.expect(money(reference));
  const worked = workUntilSettled(inbox, 3);
  await isRunning.promise;
  // Each resolves while the file is being written, which ends only later.
  await inbox.route.onCallback(paid('B', 500));
  await untilDone(async () => expect(await inbox.health()).toMatchObject({ ok: false, spooled: 1 }));
  mayEnd.give();
  await merchant.transaction(async (tx) => {
    await merchant.credit(tx, 'own', '1');
    expect((await inbox.reports()).length).toBeGreaterThan(0);
    await inbox.route.onCallback(paid('C', 500));
  });
  // It stores what is in the spool when it starts.
  await merchant.open().ready();
  await worked;
  expect(await merchant.credits()).toEqual(['A 500', 'B 500', 'C 500', 'own 1']);
});

test('a sqlite file accepts values by position and by name, large integers and bytes, and returns how many rows changed', async () => {
  await newInbox().transaction(async (tx) => {
    await tx.query('create table own (number integer, bytes blob) strict');
    const bytes = new Uint8Array([0, 255]);
    const added = await tx.query('insert into own values (?, ?)', [2n ** 53n - 1n, bytes]);
    expect(added).toEqual({ rows: [], rowCount: 1 });
    const { rows } = await tx.query('select * from own where number > $least', { $least: 5 });
    expect(rows).toEqual([{ number: 2 ** 53 - 1, bytes }]);
    expect((await tx.query('update own set number = 1')).rowCount).toBe(1);
    expect((await tx.query('update own set number = 1 where number = 7')).rowCount).toBe(0);
  });
});

test('a sqlite file lets a program end that never closes it, in which no worker runs and a value cannot be sent', async () => {
  const merchant = await newMerchant('sqlite');
  const { ended } = startChild('unclosed.ts', merchant.programArguments);
  expect(await ended).toMatchObject({ code: 0, output: 'kept\nDataCloneError\n1\n' });
});

test('a path where no database can be opened fails ready() with the path, the options and what to do', async () => {
  const fileOf = (content: string | Buffer): string => {
    const path = join(temporaryFolder(), 'x.db');
    writeFileSync(path, content);
    return path;
  };
  const damaged = join(temporaryFolder(), 'x.db');
  const database = new DatabaseSync(damaged);
  database.exec('create table own (id integer)');
  database.close();
  for (const [path, errcode, remedy] of [
    [temporaryFolder(), 14, 'write to this file and to its folder'],
    [fileOf('Dear customer, '.repeat(100)), 26, 'encrypted'],
    [fileOf(readFileSync(damaged).fill(7, 100)), 11, 'restore a backup'],
  ] as const) {
    const error: unknown = await newInbox(path)
      .ready()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'SqliteError', errcode });
    for (const part of [path, remedy, 'the path of sqlite(), or --database'])
      expect(String(error)).toContain(part);
  }
});

test('a file that another process has locked fails ready() after lockTimeoutMs, with what to do, unless it is released in time', async () => {
  const path = join(temporaryFolder(), 'locked.db');
  const first = createInbox({ store: sqlite(path) });
  await first.ready();
  await first.close();
  const database = new DatabaseSync(path);
  onTestFinished(() => database.close());
  const lock = () => database.exec('begin immediate');
  const unlock = () => database.exec('rollback');
  const open = (lockTimeoutMs: number) => {
    const inbox = createInbox({ store: sqlite(path, { lockTimeoutMs }) });
    onTestFinished(() => inbox.close());
    return inbox;
  };
  for (const lockTimeoutMs of [200, 400]) {
    lock();
    const inbox = open(lockTimeoutMs);
    const message = `holds a lock on ${path} and did not release it within ${lockTimeoutMs} ms\\. .*lockTimeoutMs`;
    const refusal = { name: 'SqliteError', errcode: 5, message: expect.stringMatching(message) };
    await expect(inbox.ready()).rejects.toMatchObject(refusal);
    unlock();
    await inbox.ready();
  }
  lock();
  const ready = open(50_000).ready();
  // Longer than the lockTimeoutMs above.
  await pause(500);
  unlock();
  await ready;
});
