/** The database's files are moved, removed or replaced while an inbox has them open (threat A74). */
import { copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '@payment-service/core';
import { expect, onTestFinished, test } from 'vitest';
import { createInbox, type InboxProblem, sqlite } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Harm {
  readonly name: string;
  /** What is done to the database at the path, and what is no longer there or the same. */
  readonly act: (path: string, aside: string) => string;
  /** After the program has ended, as its message says. */
  readonly restore?: (path: string, aside: string) => void;
}

const HARMS: readonly Harm[] = [
  {
    name: 'the database file is renamed',
    act: (path, aside) => {
      renameSync(path, join(aside, basename(path)));
      return `${path} is missing`;
    },
    restore: (path, aside) => renameSync(join(aside, basename(path)), path),
  },
  {
    name: 'the database file is removed with its log, and a copy is restored',
    act: (path, aside) => {
      for (const name of ['', '-wal']) copyFileSync(path + name, join(aside, basename(path) + name));
      for (const name of ['', '-wal', '-shm']) rmSync(path + name);
      return `${path} is missing`;
    },
    restore: (path, aside) => {
      for (const name of ['', '-wal']) renameSync(join(aside, basename(path) + name), path + name);
    },
  },
  {
    name: 'the database file is replaced by a copy',
    act: (path, aside) => {
      const copy = join(aside, 'copy.db');
      const database = new DatabaseSync(path);
      database.exec(`vacuum into '${copy}'`);
      database.close();
      renameSync(copy, path);
      return `${path} is another file`;
    },
    restore: (path) => {
      for (const name of ['-wal', '-shm']) rmSync(path + name, { force: true });
    },
  },
  {
    name: 'its -wal file is removed',
    act: (path) => {
      rmSync(`${path}-wal`);
      return `${path}-wal is missing`;
    },
  },
  {
    name: 'the folder of the database is renamed',
    act: (path, aside) => {
      renameSync(dirname(path), join(aside, 'folder'));
      return `${path} is missing`;
    },
    restore: (path, aside) => renameSync(join(aside, 'folder'), dirname(path)),
  },
];

/** Windows refuses to move or remove a file that is open: there these tests do not exist. */
const POSSIBLE = process.platform === 'win32' ? [] : HARMS;

test.each(POSSIBLE)(
  'if $name, callbacks get 429, health() fails, and what was acknowledged is there later',
  async ({ act, restore }) => {
    const aside = temporaryFolder();
    const path = join(temporaryFolder(), 'shop', 'shop.db');
    mkdirSync(dirname(path));
    const problems: InboxProblem['kind'][] = [];
    const inbox = createInbox({
      store: sqlite(path),
      onError: (_error: unknown, { kind }: InboxProblem) => problems.push(kind),
    });
    onTestFinished(() => inbox.close());
    inbox.handle('paid', () => undefined);
    for (const reference of ['A', 'B', 'C']) await inbox.route.onCallback(paid(reference, 500));
    const observed = act(path, aside);
    for (const reference of ['D', 'E', 'D']) {
      const error: unknown = await inbox.route
        .onCallback(paid(reference, 500))
        .catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UnavailableError);
      expect(String(error)).toContain(`${observed}: it was moved, removed or replaced`);
      expect(String(error)).toContain('End every program that uses the database');
    }
    const { ok, problems: found } = await inbox.health();
    expect([ok, found.at(-1), problems]).toEqual([false, 'database_file_changed', ['database_file_changed']]);
    await expect(inbox.drain()).rejects.toThrow(observed);
    await expect(inbox.reports()).rejects.toThrow(observed);
    await inbox.close();
    restore?.(path, aside);
    expect(callbacksIn(path)).toBe(3);
  },
);

test('the tables are in the database file itself, which gets what is in a lost log, and is used again when it is back', async () => {
  const path = join(temporaryFolder(), 'shop.db');
  const inbox = createInbox({ store: sqlite(path) });
  onTestFinished(() => inbox.close());
  await inbox.ready();
  /** As if the program were killed now, and its log were gone. */
  const inFile = (): number => {
    const copy = join(temporaryFolder(), 'copy.db');
    copyFileSync(path, copy);
    return callbacksIn(copy);
  };
  expect(inFile()).toBe(0);
  await inbox.route.onCallback(paid('A', 500));
  if (POSSIBLE.length === 0) return;
  renameSync(path, `${path}.moved`);
  await expect(inbox.route.onCallback(paid('B', 500))).rejects.toThrow(UnavailableError);
  renameSync(`${path}.moved`, path);
  await inbox.route.onCallback(paid('B', 500));
  rmSync(`${path}-wal`);
  await inbox.health();
  expect(inFile()).toBe(2);
});

function callbacksIn(path: string): number {
  const database = new DatabaseSync(path);
  expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  const rows = database.prepare('select 1 from payment_inbox_callback').all();
  database.close();
  return rows.length;
}
