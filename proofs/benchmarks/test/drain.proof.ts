import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBacklog } from '@payment-service/durability/load/backlog.ts';
import { sqliteEngine } from '@payment-service/durability/load/engines.ts';
import { reportOf } from '@payment-service/durability/measure/run-lab.ts';
import type { Store } from '@payment-service/inbox';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { judgeDrain } from '../src/drain/bench-drain.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-backlog-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a short run reports the rates of both stores, also with an old snapshot open, and checks the bound of each control', () => {
  const { results } = reportOf('bench:drain', '--short');
  const withBound = (sought: string): unknown[] => results.filter(({ bound }) => bound === sought);
  // Contenders at four degrees, both on SQLite, nine backlogs, two beside new callbacks on each store, and four numbers of processes.
  expect(results.filter(({ unit }) => unit === 'per second')).toHaveLength(6 * 4 + 2 + 9 + 2 * 2 + 4);
  expect(withBound('at least')).toHaveLength(5 * 4 + 1 + 3 + 2 + 3);
  expect(withBound('below')).toHaveLength(2);
  // Half and 99 of 100 of new callbacks: the inbox on two stores at three sizes, and two queues at three sizes.
  expect(results.filter(({ name }) => name.endsWith('99 of 100'))).toHaveLength(3 * 2 + 2 * 3);
  // Processor time is counted in units of 10 ms, which a short run may not reach.
  const timed = results.filter(({ unit }) => !unit.startsWith('ms of '));
  expect(timed.length).toBeLessThan(results.length);
  for (const { value } of timed) expect(value).toBeGreaterThan(0);
});

test('a backlog has its size again before each measurement, and only what was counted is settled', async () => {
  const { backlog } = await opened(30);
  await backlog.fill();
  expect(await backlog.due()).toBe(30);
  await backlog.drain(10);
  // One handler at a time on SQLite: none is under way when the tenth settles.
  expect(await backlog.due()).toBe(20);
  await backlog.fill();
  expect(await backlog.due()).toBe(30);
});

test('of a backlog, the control sorts all that is due for each attempt, and the worker itself never does', async () => {
  const { backlog, sorts } = await opened(30);
  await backlog.fill();
  await backlog.drain(10);
  expect(sorts()).toBe(0);
  await backlog.drain(10, { isControl: true });
  expect(sorts()).toBeGreaterThanOrEqual(10);
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
