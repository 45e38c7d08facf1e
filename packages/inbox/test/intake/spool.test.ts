import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createInbox, sqlite } from '../../src/index.ts';
import { deliveriesIn, spoolFile } from '../../src/intake/spool-file.ts';
import { spoolText } from '../../src/intake/verified-record.ts';
import { paid, signatureOf } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { MINUTE_MS } from '../support/shop.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  askFile,
  leftSpool,
  newPath,
  OWNER,
  recordOf,
  referenceOf,
  rowsIn,
  spoolOf,
  TestSpool,
} from '../support/test-spool.ts';
import { pause, until } from '../support/until.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E', 'F'];

test('every acknowledged delivery survives kill -9 of one of two processes that write, at any time', async () => {
  const path = newPath();
  const [child, other] = ['A', 'B'].map((name) => startChild('spool-writer.ts', [path, name]));
  await until(() => rowsIn(path).length > 200);
  child?.kill('SIGKILL');
  const count = rowsIn(path).length;
  // The other one goes on.
  await until(() => rowsIn(path).length > count + 50);
  other?.kill('SIGKILL');
  const outputs = await Promise.all([child, other].map((each) => each?.ended));
  const acknowledged = outputs.flatMap((ended) => ended?.output.split('\n').slice(0, -1) ?? []);
  expect(acknowledged.length).toBeGreaterThan(100);
  const next = new TestSpool(path).start();
  await until(() => next.isEmpty());
  expect(acknowledged.filter((reference) => !next.references().includes(reference))).toEqual([]);
});

// Windows has no such limit: there this test does not exist.
test.each(process.platform === 'win32' ? [] : ['1024'])(
  'on a full disk, a delivery is not acknowledged, nothing of it is left, and what was acknowledged is stored',
  async (blocks) => {
    const path = newPath();
    /** To a process, a file that may not grow is like a full disk. */
    const limited = ['sh', '-c', 'ulimit -f "$1"; shift; exec "$@"', 'sh', blocks];
    const child = startChild('spool-writer.ts', [path, 'A', 'until it fails'], limited);
    const lines = (await child.ended).output.trimEnd().split('\n');
    expect(lines.pop()).toMatch(/^refused SQLITE_(13|778)$/);
    expect(lines.length).toBeGreaterThan(3);
    expect(askFile(path, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    const next = new TestSpool(path).start();
    await until(() => next.isEmpty());
    expect(next.references()).toEqual(lines.sort());
  },
);

test('deliveries of an earlier process are drained in their order, and leave neither their bodies nor their space', async () => {
  const path = await leftSpool(REFERENCES);
  const next = new TestSpool(path);
  expect(await next.spool.count()).toBe(6);
  const bytes = (): string =>
    readdirSync(path)
      .map((name) => readFileSync(join(path, name), 'latin1'))
      .join('');
  expect(bytes()).toContain('merchant_reference');
  next.start();
  await until(() => next.countOf('spool.drained') > 0);
  expect(next.taken.map(referenceOf)[0]).toBe('A');
  expect([next.references(), rowsIn(path)]).toEqual([REFERENCES, []]);
  expect(next.taken.every(({ isAcknowledged }) => isAcknowledged === true)).toBe(true);
  expect(bytes()).not.toContain('merchant_reference');
});

test('files of an earlier version are drained in their order, refused ones too, and other files stay', async () => {
  const path = newPath();
  mkdirSync(path);
  const genuine = (reference: string): string =>
    spoolText(recordOf(reference), signatureOf(paid(reference, 500)));
  const other = genuine('OTHER');
  const write = (name: string, text: string): void => writeFileSync(join(path, name), text);
  for (const [index, reference] of REFERENCES.entries())
    write(`${OWNER}-${1000 + index}-x.json${reference === 'B' ? '.refused' : ''}`, genuine(reference));
  write(`${OWNER}-2000-x.json`, '{"signed":');
  write('ffffffffffffffff-3000-x.json', other);
  const others = ['x.tmp', `${OWNER}-1-x.json.tmp`, `x${OWNER}-1-x.json`, `${OWNER}-x-1.json`];
  for (const name of others) write(name, genuine('NOT'));
  const next = new TestSpool(path).start();
  await until(() => next.countOf('spool.drained') > 0);
  expect(next.taken.map(referenceOf)[0]).toBe('A');
  expect([next.references(), next.countOf('spool.refused')]).toEqual([REFERENCES, 1]);
  expect(rowsIn(path)).toEqual([
    { text: '{"signed":', isRefused: true },
    { text: other, isRefused: false },
  ]);
  expect(readdirSync(path).filter((name) => !name.startsWith('spool.db'))).toEqual(others.sort());
});

test('threat A34: bodies are counted while they are written', async () => {
  const one = new TestSpool();
  const kept = Array.from({ length: 8 }, (_each, amount) => one.keep('A', amount));
  expect(await Promise.all([...kept, one.keep('A', 8)])).toEqual([...kept.map(() => true), false]);
  const restarted = new TestSpool(one.path);
  expect([await restarted.keep('A', 9), await restarted.keep('B')]).toEqual([false, true]);
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
  expect([next.references().length, rowsIn(next.path)]).toEqual([250, []]);
  // Groups double up to 64.
  expect(most).toBeGreaterThan(16);
  expect(most).toBeLessThanOrEqual(64);
});

test('at most three deliveries are tried in a round while the store is unavailable, and none changes', async () => {
  const path = newPath();
  const all = ['A', 'A', 'B'].map((owner) => new TestSpool(path, owner));
  for (const each of all) await each.keepAll(REFERENCES);
  const before = rowsIn(path);
  await until(() => all.every((each) => each.countOf('store.unavailable') >= 3));
  for (const each of all) expect(each.calls).toBeLessThanOrEqual(3 * (each.countOf('store.unavailable') + 1));
  // Each round waits twice as long as the one before it, less at most half of that.
  for (const [round, waitMs] of waitsOf(all[0]).slice(0, 3).entries()) {
    expect(waitMs).toBeGreaterThanOrEqual(250 * 2 ** round);
    expect(waitMs).toBeLessThanOrEqual(500 * 2 ** round);
  }
  expect(rowsIn(path)).toEqual(before);
});

test('a delivery that is damaged, or holds a member of another type, is refused, kept and reported, and delays no other', async () => {
  const genuine: object = JSON.parse(spoolText(recordOf('A'), signatureOf(paid('A', 500))));
  const texts = [
    '{"signed":',
    ...Object.keys(genuine).map((name) => JSON.stringify({ ...genuine, [name]: [] })),
  ];
  const path = await spoolOf(...texts, undefined);
  const one = new TestSpool(path).start();
  await until(() => one.countOf('spool.drained') > 0);
  expect(one.taken.map(referenceOf)).toEqual([`${texts.length}`]);
  expect(rowsIn(path)).toEqual(texts.map((text) => ({ text, isRefused: true })));
  const damaged = one.events.filter((event) => event.name === 'spool.refused' && event.isDamaged);
  // A signature of another type is one that does not verify.
  expect([one.countOf('spool.refused'), damaged.length]).toEqual([texts.length, texts.length - 1]);
  expect(one.events).toContainEqual({ name: 'spool.drained', count: 1 });
});

test('a file that is no database, or damaged, is reported with what to do, and replaced when it is moved away', async () => {
  const garbage = 'x'.repeat(5000);
  const one = new TestSpool(await leftSpool(REFERENCES));
  writeFileSync(spoolFile(one.path), garbage);
  await one.spool.file.check();
  one.start();
  await until(() => one.problems.length > 0);
  expect(one.problems).toEqual([
    expect.stringMatching(/^spool_lost: .*spool\.db, is damaged \(SQLITE_26\).* Move the file away/),
  ]);
  expect([await one.keep('X'), one.spool.trouble]).toEqual([
    false,
    one.problems[0]?.slice('spool_lost: '.length),
  ]);
  expect(readFileSync(spoolFile(one.path), 'utf8')).toBe(garbage);
  renameSync(spoolFile(one.path), `${spoolFile(one.path)}.moved`);
  expect(await one.keep('X')).toBe(true);
  await until(() => one.problems.length === 3);
  expect([one.references(), one.spool.trouble]).toEqual([['X'], undefined]);
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
  await expect(one.spool.file.check()).rejects.toMatchObject({ code: 'ENOENT' });
  mkdirSync(parent);
  writeFileSync(one.path, '');
  expect(await one.keep('A')).toBe(false);
  const message = `${one.path} is a file, but the spool is a folder. Move the file, or set spool to another path.`;
  await expect(one.spool.file.check()).rejects.toMatchObject({ option: 'spool', message });
  one.start();
  await until(() => one.events.length > 2);
  expect(one.events[2]).toEqual({ name: 'spool.failed', failure: 'ENOTDIR' });
  renameSync(one.path, `${one.path}.moved`);
  expect(await one.keep('A')).toBe(true);
  await one.spool.file.check();
  expect(rowsIn(one.path)).toHaveLength(1);
});

// Only Linux reports the type of a file system: elsewhere this test does not exist.
test.each(process.platform === 'linux' ? ['/dev'] : [])('memory is refused, even on a disk: %s', (spool) => {
  const store = sqlite(join(temporaryFolder(), 'shop.db'));
  expect(() => createInbox({ store, spool })).toThrow(/memory/);
});

test('inboxes that share a spool drain and count only their own deliveries', async () => {
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

test('the deliveries of all owners are found without changing anything', async () => {
  const path = await leftSpool(['A', 'B']);
  askFile(path, "update delivery set owner = 'other', is_refused = 1, kept_at = 1 where place = 1");
  const found = await deliveriesIn(path);
  expect(found).toEqual([
    { owner: 'other', kept_at: 1, is_refused: 1 },
    { owner: OWNER, kept_at: expect.any(Number), is_refused: 0 },
  ]);
  expect(Math.abs(Date.now() - Number(found[1]?.['kept_at']))).toBeLessThan(MINUTE_MS);
  const missing = join(path, 'missing');
  expect([await deliveriesIn(missing), existsSync(missing)]).toEqual([[], false]);
});

/** The delays after each round in which the store was unavailable. */
function waitsOf(one: TestSpool | undefined): number[] {
  return one?.events.flatMap((event) => (event.name === 'store.unavailable' ? [event.retryInMs] : [])) ?? [];
}
