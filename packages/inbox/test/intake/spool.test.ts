import { appendFileSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type InboxEvent, sqlite } from '../../src/index.ts';
import type { IntakeOutcome } from '../../src/intake/keep.ts';
import { callbackRecord, type IntakeRecord } from '../../src/intake/record.ts';
import { Spool } from '../../src/intake/spool.ts';
import { checkOptions } from '../../src/options.ts';
import { paid } from '../support/callbacks.ts';
import { startChild } from '../support/child-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pause, until, untilDone } from '../support/until.ts';

const REFERENCES = ['A', 'B', 'C', 'D', 'E'];

describe('what a process left in the spool when it was killed', () => {
  it('is handed over by the next one: its lines, those that it was draining, and none that is torn', async () => {
    const path = newPath();
    const [draining, killed] = [newSpool(path), newSpool(path)];
    for (const reference of ['A', 'B']) expect(await draining.spool.keep(record(reference))).toBe(true);
    await draining.spool.close();
    renameSync(path, `${path}.draining-of-a-process-that-ended`);
    for (const reference of ['C', 'D']) expect(await killed.spool.keep(record(reference))).toBe(true);
    await killed.spool.close();
    const [, line = ''] = readFileSync(path, 'utf8').split('\n');
    appendFileSync(path, `\n${line.slice(0, line.length / 2)}`);
    const next = newSpool(path);
    expect(await next.spool.count()).toBe(4);
    // Behind a torn line as well.
    expect(await next.spool.keep(record('E'))).toBe(true);
    next.isThere = true;
    next.spool.start();
    await until(() => next.references().length === 5);
    expect(next.references()).toEqual(REFERENCES);
    await until(async () => (await next.spool.count()) === 0);
    expect(next.kept.every(({ isAcknowledged }) => isAcknowledged === true)).toBe(true);
    expect(filesOf(path)).toEqual([]);
  });

  it('is all that it acknowledged, whenever it was killed', async () => {
    const path = newPath();
    const child = startChild('spool-writer.ts', [path]);
    // While it drains in vain as well.
    await until(async () => (await linesIn(path)) > 300);
    child.kill('SIGKILL');
    const { output } = await child.ended;
    const acknowledged = output.split('\n').slice(0, -1);
    expect(acknowledged.length).toBeGreaterThan(10);
    const next = newSpool(path);
    next.isThere = true;
    next.spool.start();
    const missing = (): string[] =>
      acknowledged.filter((reference) => !next.references().includes(reference));
    await until(() => missing().length === 0);
    await until(async () => (await next.spool.count()) === 0);
  });
});

describe('a delivery that the store never takes', () => {
  it.each<[string, () => IntakeOutcome]>([
    [
      'since it refuses it',
      () => {
        throw new Error('no');
      },
    ],
    ['since the transition is full', () => 'full'],
  ])('holds back no other, and stays, %s', async (_why, answer) => {
    const one = newSpool(newPath());
    one.answers.set('A', answer);
    for (const reference of REFERENCES) expect(await one.spool.keepInstead(record(reference))).toBe(true);
    one.isThere = true;
    await until(() => one.references().length === 4);
    expect(one.references()).toEqual(['B', 'C', 'D', 'E']);
    await until(() => one.events.some(({ name }) => name === 'store.unavailable'));
    await until(async () => (await one.spool.count()) === 1);
    one.answers.clear();
    await until(() => one.references().length === 5 && !one.spool.isStoreAway);
    await until(async () => (await one.spool.count()) === 0);
  });
});

it('takes 8 bodies of a transition, and of others as many as come; after it was emptied as many again', async () => {
  const one = newSpool(newPath());
  const keepAll = (from: number, reference: string): Promise<boolean[]> =>
    Promise.all(
      Array.from({ length: 10 }, (_each, index) => one.spool.keep(record(reference, from + index))),
    );
  expect((await keepAll(1, 'A')).filter(Boolean)).toHaveLength(8);
  expect((await keepAll(1, 'B')).filter(Boolean)).toHaveLength(8);
  expect(await one.spool.count()).toBe(16);
  one.isThere = true;
  await until(() => one.events.some(({ name }) => name === 'spool.drained'));
  expect(one.events.find(({ name }) => name === 'spool.drained')).toMatchObject({ count: 16 });
  one.isThere = false;
  expect((await keepAll(11, 'A')).filter(Boolean)).toHaveLength(8);
});

it('says that it cannot keep a delivery, and keeps the next one when it can', async () => {
  const path = join(temporaryFolder(), 'no-folder-yet', 'spool');
  const one = newSpool(path);
  expect(await one.spool.keep(record('A'))).toBe(false);
  expect(one.events).toEqual([{ name: 'spool.failed', failure: 'ENOENT' }]);
  await expect(one.spool.check()).rejects.toMatchObject({ code: 'ENOENT' });
});

describe('one file for several inboxes and processes', () => {
  it('gives each what is its own, and counts nothing else', async () => {
    const path = newPath();
    const [a, b] = [newSpool(path, 'A'), newSpool(path, 'B')];
    await a.spool.keep(record('A'));
    await b.spool.keep(record('B'));
    await b.spool.keep(record('C'));
    expect([await a.spool.count(), await b.spool.count()]).toEqual([1, 2]);
    a.isThere = true;
    await until(() => a.references().length > 0);
    await until(async () => (await a.spool.count()) === 0 && (await b.spool.count()) === 2);
    b.isThere = true;
    await until(() => b.references().length === 2);
    expect(b.references()).toEqual(['B', 'C']);
    expect(a.references()).toEqual(['A']);
  });

  it('loses nothing while some append and others drain, with a store that comes and goes', async () => {
    const path = newPath();
    const all = [newSpool(path, 'A'), newSpool(path, 'A'), newSpool(path, 'B')];
    const expected = new Map<string, string[]>([
      ['A', []],
      ['B', []],
    ]);
    for (let round = 0; round < 20; round += 1) {
      for (const [index, each] of all.entries()) each.isThere = (round + index) % 3 === 0;
      for (const [index, each] of all.entries()) {
        const references = [0, 1, 2].map((number) => `${round}-${index}-${number}`);
        for (const reference of references) expected.get(each.owner)?.push(reference);
        await Promise.all(references.map((reference) => untilDone(() => keepSurely(each.spool, reference))));
      }
      await pause(10);
    }
    for (const each of all) each.isThere = true;
    for (const [owner, references] of expected) {
      const own = all.filter((each) => each.owner === owner);
      const given = (): string[] => [...new Set(own.flatMap((each) => each.references()))].sort();
      await until(() => given().length >= references.length);
      expect(given()).toEqual(references.sort());
    }
    for (const each of all) await until(async () => (await each.spool.count()) === 0);
  });

  it('hands over what another process leaves there, without having kept anything itself', async () => {
    const path = newPath();
    const [idle, other] = [newSpool(path), newSpool(path)];
    idle.isThere = true;
    idle.spool.start();
    // It has looked.
    await pause(50);
    await other.spool.keep(record('A'));
    await other.spool.close();
    await until(() => idle.references().includes('A'));
  });

  // Each writes again what it could not hand over: with two, the file once doubled with every attempt.
  it('does not grow while several drain it in vain', async () => {
    const path = newPath();
    const all = ['A', 'A', 'B', 'B'].map((owner) => newSpool(path, owner, 20));
    for (const [index, each] of all.entries()) await each.spool.keep(record(REFERENCES[index] ?? ''));
    const attempts = (): number[] =>
      all.map(({ events }) => events.filter(({ name }) => name === 'store.unavailable').length);
    await until(() => Math.min(...attempts()) >= 5);
    expect(await linesIn(path)).toBeLessThanOrEqual(4 * all.length);
    for (const each of all) each.isThere = true;
    await until(() => new Set(all.flatMap((each) => each.references())).size === 4);
  });
});

interface TestSpool {
  readonly spool: Spool;
  readonly owner: string;
  readonly events: InboxEvent[];
  readonly kept: IntakeRecord[];
  /** What the store does with the first one of a reference, instead of keeping it. */
  readonly answers: Map<string, () => IntakeOutcome>;
  /** Whether the store is. */
  isThere: boolean;
  /** Of what the store was given, each one once. */
  references(): string[];
}

function newSpool(path: string, owner = 'A', answerMs = 1): TestSpool {
  const events: InboxEvent[] = [];
  const onEvent = (event: InboxEvent): unknown => events.push(event);
  const kept: IntakeRecord[] = [];
  const answers = new Map<string, () => IntakeOutcome>();
  const settings = checkOptions({ store: sqlite(`${temporaryFolder()}/x.db`), random: () => 0, onEvent });
  const store = async (given: IntakeRecord): Promise<IntakeOutcome> => {
    await pause(answerMs);
    if (!test.isThere) throw new Error('The store is away.');
    const outcome = answers.get(referenceOf(given))?.() ?? 'new';
    if (outcome === 'new') kept.push(given);
    return outcome;
  };
  const spool = new Spool({ path, owner, settings, store });
  onTestFinished(() => spool.close());
  const references = (): string[] => [...new Set(kept.map(referenceOf))].sort();
  const test: TestSpool = { spool, owner, events, kept, answers, isThere: false, references };
  return test;
}

async function keepSurely(spool: Spool, reference: string): Promise<void> {
  if (!(await spool.keep(record(reference)))) throw new Error('It was not kept.');
}

function record(reference: string, amount = 500): IntakeRecord {
  return callbackRecord(paid(reference, amount), '');
}

function referenceOf({ signed }: IntakeRecord): string {
  return (JSON.parse(signed) as { merchant_reference: string }).merchant_reference;
}

function newPath(): string {
  return join(temporaryFolder(), 'spool');
}

/** Without the file itself when it is empty or not there. */
function filesOf(path: string): string[] {
  return readdirSync(dirname(path)).filter(
    (name) => readFileSync(join(dirname(path), name), 'utf8').trim() !== '',
  );
}

async function linesIn(path: string): Promise<number> {
  const texts = readdirSync(dirname(path)).map((name) => {
    try {
      return readFileSync(join(dirname(path), name), 'utf8');
    } catch {
      return ''; // Drained meanwhile.
    }
  });
  return texts
    .join('')
    .split('\n')
    .filter((line) => line !== '').length;
}
