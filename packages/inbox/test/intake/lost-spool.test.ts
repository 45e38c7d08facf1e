/** The file of a spool in use goes away with acknowledged callbacks in it (threat A74). */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '@payment-service/core';
import { expect, onTestFinished, test } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { rowsIn, TestSpool } from '../support/test-spool.ts';
import { until } from '../support/until.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E'];

interface Harm {
  readonly name: string;
  readonly act: (path: string) => void;
}

const HARMS: readonly Harm[] = [
  { name: 'its folder is removed', act: (path) => rmSync(path, { recursive: true }) },
  {
    name: 'its folder is replaced',
    act(path) {
      rmSync(path, { recursive: true });
      mkdirSync(path);
    },
  },
  {
    name: 'all files in its folder are removed',
    act(path) {
      for (const name of readdirSync(path)) rmSync(join(path, name));
    },
  },
  { name: 'its -wal file is removed', act: (path) => rmSync(join(path, 'spool.db-wal')) },
];

/** Windows refuses to move or remove a file that is open: there these tests do not exist. */
const POSSIBLE = process.platform === 'win32' ? [] : HARMS;

test.each(POSSIBLE)(
  'if $name with five callbacks in it, that is reported, no other is accepted, and all five are stored',
  async ({ act }) => {
    const one = new TestSpool();
    await one.keepAll(REFERENCES);
    act(one.path);
    expect(await one.keep('F')).toBe(false);
    const observed =
      /^The file of the spool, .*spool\.db, was moved, removed or replaced while 5 acknowledged callbacks/;
    expect([one.spool.trouble, await one.spool.count()]).toEqual([expect.stringMatching(observed), 5]);
    one.isThere = true;
    await until(() => one.problems.length === 3);
    expect([one.spool.trouble, await one.spool.count()]).toEqual([undefined, 0]);
    expect(one.references()).toEqual(REFERENCES);
    const kinds = one.problems.map((problem) => problem.split(':')[0]);
    expect(kinds).toEqual(['callbacks_spooled', 'spool_lost', 'callbacks_stored']);
    one.isThere = false;
    expect([await one.keep('F'), rowsIn(one.path).length]).toEqual([true, 1]);
  },
);

test.each(POSSIBLE.slice(0, 1))(
  'if $name, callbacks get 429 with what to do, and health() fails until the others are stored',
  async ({ act }) => {
    const path = join(temporaryFolder(), 'shop.db');
    const inbox = createInbox({ store: sqlite(path, { lockTimeoutMs: 1 }), onError: () => undefined });
    onTestFinished(() => inbox.close());
    await inbox.route.onCallback(paid('A', 500));
    const other = new DatabaseSync(path);
    onTestFinished(() => other.close());
    other.exec('begin immediate');
    await inbox.route.onCallback(paid('B', 500));
    act(`${path}-spool`);
    const error: unknown = await inbox.route.onCallback(paid('C', 500)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(String(error)).toContain(`The file of the spool, ${join(`${path}-spool`, 'spool.db')}, was moved`);
    expect(String(error)).toContain('Put the file back');
    const problems = ['spool_lost', 'spool_not_drained', 'store_unavailable'];
    expect(await inbox.health()).toMatchObject({ ok: false, problems, spooled: 1 });
    // It could be put back.
    expect(existsSync(`${path}-spool`)).toBe(false);
    other.exec('rollback');
    await inbox.route.onCallback(paid('C', 500));
    await until(async () => (await inbox.health()).ok);
    expect((await inbox.reports()).length).toBe(3);
  },
);

test.each(POSSIBLE.slice(0, 1))('a spool that was moved and is back is used again', async () => {
  const one = new TestSpool();
  await one.keepAll(REFERENCES);
  renameSync(one.path, `${one.path}.moved`);
  expect([await one.keep('F'), one.spool.trouble]).toEqual([false, expect.any(String)]);
  renameSync(`${one.path}.moved`, one.path);
  expect(await one.keep('F')).toBe(true);
  one.isThere = true;
  await until(() => one.isEmpty());
  expect([one.references(), one.spool.trouble, rowsIn(one.path)]).toEqual([
    [...REFERENCES, 'F'],
    undefined,
    [],
  ]);
});

test.each(POSSIBLE.slice(0, 1))(
  'after the empty spool of a process was moved, the next callback is refused, and those after it are kept',
  async () => {
    const one = new TestSpool();
    await one.keep('A');
    one.isThere = true;
    await until(() => one.isEmpty());
    one.isThere = false;
    renameSync(one.path, `${one.path}.moved`);
    expect([await one.keep('B'), one.spool.trouble]).toEqual([false, undefined]);
    expect([await one.keep('B'), rowsIn(one.path).length]).toEqual([true, 1]);
  },
);
