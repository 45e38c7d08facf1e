/** Files of acknowledged callbacks go away from a spool in use, and nothing says that they are stored (threat A74). */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UnavailableError } from '@payment-service/core';
import { expect, onTestFinished, test } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { paid } from '../support/callbacks.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { filesIn, recordOf, TestSpool } from '../support/test-spool.ts';
import { until } from '../support/until.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E'];

/** A folder in use cannot be removed on Windows in every case: the tests of a folder do not exist there. */
const FOLDERS = process.platform === 'win32' ? [] : ['removed', 'replaced'];

test.each(FOLDERS)(
  'if the folder of a spool is %s with five callbacks in it, all five are reported, and none is called stored',
  async (harm) => {
    const one = new TestSpool();
    await one.keepAll(REFERENCES);
    rmSync(one.path, { recursive: true });
    if (harm === 'replaced') mkdirSync(one.path);
    expect(await one.keep('F')).toBe(false);
    const found = harm === 'removed' ? 'is missing' : 'is another folder';
    const observed = `The folder of the spool, ${one.path}, ${found}: it was moved, removed or replaced while 5 acknowledged callbacks`;
    expect([one.spool.kept.isLost, one.spool.kept.change]).toEqual([true, expect.stringContaining(observed)]);
    one.isThere = true;
    await until(() => one.problems.length > 3);
    // One that was being stored when the folder went away may still be stored.
    const counted = (name: 'spool.lost' | 'spool.drained'): number =>
      one.events.reduce((sum, event) => sum + (event.name === name ? event.count : 0), 0);
    expect(counted('spool.lost')).toBeGreaterThan(3);
    expect(counted('spool.lost') + counted('spool.drained')).toBe(5);
    expect(one.problems.map((problem) => problem.split(':')[0])).toEqual([
      'callbacks_spooled',
      'spool_lost',
      'spool_lost',
      'callbacks_stored',
    ]);
    expect(one.problems[1]).toContain(observed);
    expect(one.problems[2]).toMatch(
      /, \d cannot be found: .* between \d{4}-.*Z and .*Z\..* ask the service for the transactions/,
    );
    expect(one.problems[3]).toMatch(
      /: The spool is empty, and \d acknowledged callbacks that were in it cannot be found/,
    );
    expect([one.spool.kept.isLost, one.spool.kept.change, await one.keep('F')]).toEqual([
      true,
      undefined,
      true,
    ]);
  },
);

test.each(FOLDERS.slice(0, 1))(
  'if the folder of a spool is %s, callbacks get 429 with what to do, and health() fails',
  async () => {
    const path = join(temporaryFolder(), 'shop.db');
    const inbox = createInbox({ store: sqlite(path, { lockTimeoutMs: 1 }), onError: () => undefined });
    onTestFinished(() => inbox.close());
    await inbox.route.onCallback(paid('A', 500));
    const other = new DatabaseSync(path);
    onTestFinished(() => other.close());
    other.exec('begin immediate');
    await inbox.route.onCallback(paid('B', 500));
    rmSync(`${path}-spool`, { recursive: true });
    const error: unknown = await inbox.route.onCallback(paid('C', 500)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnavailableError);
    expect(String(error)).toContain(`The folder of the spool, ${path}-spool, is missing`);
    expect(String(error)).toContain('Put it back with its files.');
    expect(await inbox.health()).toMatchObject({ ok: false, problems: ['spool_lost', 'store_unavailable'] });
    other.exec('rollback');
    await inbox.route.onCallback(paid('C', 500));
    expect(await inbox.health()).toMatchObject({ ok: false, problems: ['spool_lost'] });
  },
);

test('files that vanish are reported only if the store does not have them: another process may have stored them', async () => {
  const one = new TestSpool();
  await one.keepAll(REFERENCES);
  const [first = '', second = '', third = ''] = filesIn(one.path);
  // As if another process had stored A.
  one.taken.push(recordOf('A'));
  rmSync(join(one.path, first));
  rmSync(join(one.path, second));
  // As if a process with other keys had refused C: it is there under its other name.
  renameSync(join(one.path, third), join(one.path, `${third}.refused`));
  one.isThere = true;
  const kept = (): string[] => one.references().filter((reference) => reference !== 'C');
  await until(() => kept().length === 3 && one.countOf('spool.lost') > 0);
  expect(one.events.filter(({ name }) => name === 'spool.lost')).toEqual([{ name: 'spool.lost', count: 1 }]);
  expect([kept(), one.spool.kept.isLost]).toEqual([['A', 'D', 'E'], true]);
});

test.each(FOLDERS.slice(0, 1))('a folder of a spool that was moved and is back loses nothing', async () => {
  const one = new TestSpool();
  await one.keepAll(REFERENCES);
  renameSync(one.path, `${one.path}.moved`);
  expect(await one.keep('F')).toBe(false);
  expect([one.spool.kept.isLost, filesIn(one.path)]).toEqual([true, []]);
  renameSync(`${one.path}.moved`, one.path);
  expect(await one.keep('F')).toBe(true);
  one.isThere = true;
  await until(() => one.isEmpty());
  expect([one.references(), one.countOf('spool.lost'), one.spool.kept.isLost]).toEqual([
    [...REFERENCES, 'F'],
    0,
    false,
  ]);
});
