import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { deliveriesIn, spoolOwner } from '../../src/intake/spool-folder.ts';
import { spoolText } from '../../src/intake/verified-record.ts';
import { paid, signatureOf } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { MINUTE_MS } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { filesIn, leftSpool, newPath, recordOf, referenceOf, TestSpool } from '../support/test-spool.ts';
import { pause, until } from '../support/until.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E', 'F'];

test('every acknowledged delivery survives kill -9 at any time', async () => {
  const path = newPath();
  const child = startChild('spool-writer.ts', [path]);
  await until(() => filesIn(path).length > 200);
  child.kill('SIGKILL');
  const acknowledged = (await child.ended).output.split('\n').slice(0, -1);
  expect(acknowledged.length).toBeGreaterThan(100);
  const next = new TestSpool(path).start();
  await until(() => next.isEmpty());
  expect(acknowledged.filter((reference) => !next.references().includes(reference))).toEqual([]);
});

test('files of an earlier process are drained, oldest first, without temporary files', async () => {
  const path = await leftSpool(REFERENCES);
  const killed = 'of-a-killed-process.tmp';
  writeFileSync(join(path, killed), JSON.stringify(recordOf('not acknowledged')));
  const next = new TestSpool(path);
  expect(await next.spool.count()).toBe(6);
  next.start();
  await until(() => next.isEmpty());
  expect([next.taken.map(referenceOf)[0], next.references()]).toEqual(['A', REFERENCES]);
  expect(next.taken.every(({ isAcknowledged }) => isAcknowledged === true)).toBe(true);
  expect(filesIn(next.path)).toEqual([killed]);
});

test('threat A34: bodies count while they are written, although the folder is still empty', async () => {
  const one = new TestSpool().start();
  one.isThere = false;
  // The folder is read while the first file has no name yet.
  const kept = Array.from({ length: 8 }, (_each, amount) => one.keep('A', amount));
  expect(await Promise.all(kept)).not.toContain(false);
  expect(await one.keep('A', 8)).toBe(false);
});

test('deliveries that arrive together are all spooled, and are stored in groups once the store accepts one', async () => {
  const one = new TestSpool();
  const references = Array.from({ length: 250 }, (_each, index) => `${index}`);
  expect(await Promise.all(references.map((reference) => one.keep(reference)))).not.toContain(false);
  expect(await one.spool.count()).toBe(250);
  await one.spool.close();
  const next = new TestSpool(one.path);
  let [atOnce, most] = [0, 0];
  next.wait = async () => {
    most = Math.max(most, ++atOnce);
    await pause(10);
    atOnce -= 1;
  };
  next.start();
  await until(() => next.countOf('spool.drained') > 0);
  expect(next.events).toEqual([{ name: 'spool.drained', count: 250 }]);
  expect([next.references().length, filesIn(next.path)]).toEqual([250, []]);
  // Groups double up to 64, whose files are not all read at the same time.
  expect(most).toBeGreaterThan(16);
  expect(most).toBeLessThanOrEqual(64);
});

test('at most three files are tried in a round while the store is unavailable, and none changes', async () => {
  const path = newPath();
  const all = ['A', 'A', 'B'].map((owner) => new TestSpool(path, owner));
  for (const each of all) await each.keepAll(REFERENCES);
  const before = filesIn(path);
  await until(() => all.every((each) => each.countOf('store.unavailable') >= 3));
  for (const each of all) expect(each.calls).toBeLessThanOrEqual(3 * (each.countOf('store.unavailable') + 1));
  // Each round waits twice as long as the one before it, less at most half of that.
  for (const [round, waitMs] of waitsOf(all[0]).slice(0, 3).entries()) {
    expect(waitMs).toBeGreaterThanOrEqual(250 * 2 ** round);
    expect(waitMs).toBeLessThanOrEqual(500 * 2 ** round);
  }
  expect(filesIn(path)).toEqual(before);
});

test('a file that is damaged, or holds a member of another type, is kept under another name and reported, and delays no other', async () => {
  const genuine: object = JSON.parse(spoolText(recordOf('A'), signatureOf(paid('A', 500))));
  const members = Object.keys(genuine);
  const path = await leftSpool([...members, 'damaged', ...REFERENCES]);
  const changed = filesIn(path).slice(0, members.length + 1);
  for (const [index, name] of changed.entries()) {
    const member = members[index];
    const text = member === undefined ? '{"signed":' : JSON.stringify({ ...genuine, [member]: [] });
    writeFileSync(join(path, name), text);
  }
  const one = new TestSpool(path).start();
  await until(() => one.countOf('spool.drained') > 0);
  expect([one.references(), filesIn(path)]).toEqual([REFERENCES, changed.map((name) => `${name}.refused`)]);
  const damaged = one.events.filter((event) => event.name === 'spool.refused' && event.isDamaged);
  // A signature of another type is one that does not verify.
  expect([one.countOf('spool.refused'), damaged.length]).toEqual([members.length + 1, members.length]);
  expect(one.events).toContainEqual({ name: 'spool.drained', count: REFERENCES.length });
});

test('8 bodies of a transition are spooled, and 8 more after these were stored', async () => {
  const one = new TestSpool();
  const keepTen = async (from: number, reference: string): Promise<number> => {
    const amounts = Array.from({ length: 10 }, (_each, index) => from + index);
    return (await Promise.all(amounts.map((amount) => one.keep(reference, amount)))).filter(Boolean).length;
  };
  expect([await keepTen(1, 'A'), await keepTen(1, 'B'), await one.spool.count()]).toEqual([8, 8, 16]);
  one.isThere = true;
  await until(() => one.isEmpty());
  await until(async () => (await keepTen(11, 'A')) === 8);
});

test('a folder that cannot be created, or is a file, accepts nothing until that is fixed, and is reported', async () => {
  const parent = join(temporaryFolder(), 'missing');
  const one = new TestSpool(join(parent, 'spool'));
  expect(await one.keep('A')).toBe(false);
  expect(one.events).toEqual([{ name: 'spool.failed', failure: 'ENOENT' }]);
  await expect(one.spool.check()).rejects.toMatchObject({ code: 'ENOENT' });
  mkdirSync(parent);
  writeFileSync(one.path, '');
  expect(await one.keep('A')).toBe(false);
  const message = `${one.path} is a file, but the spool is a folder. Move the file, or set spool to another path.`;
  await expect(one.spool.check()).rejects.toMatchObject({ option: 'spool', message });
  one.start();
  await until(() => one.events.length > 2);
  expect(one.events[2]).toEqual({ name: 'spool.failed', failure: 'ENOTDIR' });
  renameSync(one.path, `${one.path}.moved`);
  expect(await one.keep('A')).toBe(true);
  await one.spool.check();
  expect(filesIn(one.path)).toHaveLength(1);
});

// Only Linux reports the type of a file system: elsewhere this test does not exist.
test.each(process.platform === 'linux' ? ['/dev'] : [])('memory is refused, even on a disk: %s', (spool) => {
  const store = sqlite(join(temporaryFolder(), 'shop.db'));
  expect(() => createInbox({ store, spool })).toThrow(/memory/);
});

test('inboxes that share a folder drain and count only their own deliveries', async () => {
  const a = new TestSpool();
  const b = new TestSpool(a.path, 'B');
  await Promise.all([a.keep('A'), b.keep('B'), b.keep('C')]);
  a.isThere = true;
  await until(() => a.isEmpty());
  expect([a.references(), await b.spool.count()]).toEqual([['A'], 2]);
  b.isThere = true;
  await until(() => b.isEmpty());
  expect(b.references()).toEqual(['B', 'C']);
});

test('the deliveries of all owners are found by the names of their files', async () => {
  const path = await leftSpool(['A', 'B']);
  const owner = spoolOwner('A', { dialect: 'sqlite', prefix: 'payment_inbox_' });
  for (const name of [
    'x.tmp',
    `${owner}-1-x.json.tmp`,
    `${owner}-1-x.json.refused`,
    `x${owner}-1-x.json`,
    `${owner}-x.json`,
    `${owner}-x-1.json`,
  ])
    writeFileSync(join(path, name), '');
  const found = await deliveriesIn(path);
  expect(found.shift()).toEqual({ owner, keptAt: 1, isRefused: true });
  expect(found).toEqual([1, 2].map(() => ({ owner, keptAt: expect.any(Number), isRefused: false })));
  for (const { keptAt } of found) expect(Math.abs(Date.now() - keptAt)).toBeLessThan(MINUTE_MS);
  expect(await deliveriesIn(join(path, 'missing'))).toEqual([]);
});

/** The delays after each round in which the store was unavailable. */
function waitsOf(one: TestSpool | undefined): number[] {
  return one?.events.flatMap((event) => (event.name === 'store.unavailable' ? [event.retryInMs] : [])) ?? [];
}
