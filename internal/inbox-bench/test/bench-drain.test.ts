import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@payment-service/inbox';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openBacklog } from '../src/backlog.ts';
import { sqliteEngine } from '../src/drain-engines.ts';
import { type DrainResult, judgeDrain } from '../src/judge-drain.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-drain-test-'));
// A server of root's runs as a user of its own, who has to reach it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

test('a short run tells the rates of both stores, beside an old snapshot too, and holds each control to its bound', () => {
  const path = join(folder, 'report.json');
  const program = join(import.meta.dirname, '..', 'src', 'bench-drain.ts');
  const run = spawnSync(process.execPath, [program, '--short', '--report', path], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
  expect(run.status, run.stdout + run.stderr).toBe(0);
  const { name, date, results } = JSON.parse(readFileSync(path, 'utf8')) as {
    name: string;
    date: string;
    results: DrainResult[];
  };
  expect(name).toBe('bench-drain');
  expect(new Date(date).toISOString()).toBe(date);
  expect(results.filter(({ unit }) => unit === 'per second')).toHaveLength(19);
  expect(results.map(({ bound }) => bound).filter((bound) => bound === 'at least')).toHaveLength(8);
  expect(results.map(({ bound }) => bound).filter((bound) => bound === 'below')).toHaveLength(2);
  for (const result of results) {
    expect(result.value).toBeGreaterThan(0);
    expect(run.stdout).toContain(result.name);
  }
  // What it has written is gone.
  expect(readdirSync(folder)).toEqual(['report.json']);
});

describe('a backlog', () => {
  test('has its size again before each measurement, and only what was counted is settled', async () => {
    const { backlog } = await opened(30);
    await backlog.fill();
    expect(await backlog.due()).toBe(30);
    await backlog.drain(10);
    // One handler at a time on SQLite: none is under way when the tenth settles.
    expect(await backlog.due()).toBe(20);
    await backlog.fill();
    expect(await backlog.due()).toBe(30);
  });

  test('the control sorts all that is due for each attempt, and the worker itself never does', async () => {
    const { backlog, sorts } = await opened(30);
    await backlog.fill();
    await backlog.drain(10);
    expect(sorts()).toBe(0);
    await backlog.drain(10, { isControl: true });
    expect(sorts()).toBeGreaterThanOrEqual(10);
  });
});

describe('targets', () => {
  const targets = [
    { large: 'large', small: 'small', isControl: false },
    { large: 'slow', small: 'small', isControl: true },
  ];

  test('a large backlog may cost a fifth, and the control has to cost more', () => {
    expect(met({ small: [100, 100], large: [80, 80], slow: [79, 79] })).toEqual([true, true]);
    expect(met({ small: [100, 100], large: [79, 79], slow: [80, 80] })).toEqual([false, false]);
  });

  test('ratios are taken within each round: a slow round of the machine is no large backlog', () => {
    expect(met({ small: [100, 10, 100], large: [90, 9, 90], slow: [10, 1, 10] })).toEqual([true, true]);
  });

  test('what was not measured is an error', () => {
    expect(() => judgeDrain(new Map([['small', [1]]]), targets)).toThrow('Not measured: large');
  });

  function met(rates: Record<string, number[]>): boolean[] {
    const results = judgeDrain(new Map(Object.entries(rates)), targets);
    return results.filter(({ unit }) => unit === 'ratio').map((result) => result.met);
  }
});

async function opened(
  size: number,
): Promise<{ backlog: ReturnType<typeof openBacklog>; sorts: () => number }> {
  const engine = await sqliteEngine(folder, 'backlog');
  let sorts = 0;
  const query: typeof engine.store.query = (statement, values, tx) => {
    if (/order by next_at \+ 0/.test(statement.text)) sorts += 1;
    return engine.store.query(statement, values, tx);
  };
  const store: Store<Parameters<typeof engine.apply>[0]> = { ...engine.store, query };
  const backlog = openBacklog({ ...engine, store }, size);
  onTestFinished(backlog.close);
  return { backlog, sorts: () => sorts };
}
