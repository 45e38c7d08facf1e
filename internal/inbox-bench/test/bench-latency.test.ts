import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { judgeLatency, type LatencyResult } from '../src/latency/judge-latency.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-latency-test-'));
// A server of root's runs as a user of its own, who has to reach it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

test('a short run times every callback of each contender from its request to its effect, and leaves nothing behind', () => {
  const path = join(folder, 'report.json');
  const program = join(import.meta.dirname, '..', 'src', 'latency', 'bench-latency.ts');
  const run = spawnSync(process.execPath, [program, '--short', '--report', path], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
  expect(run.status, run.stdout + run.stderr).toBe(0);
  const { name, date, results } = JSON.parse(readFileSync(path, 'utf8')) as {
    name: string;
    date: string;
    results: LatencyResult[];
  };
  expect(name).toBe('bench-latency');
  expect(new Date(date).toISOString()).toBe(date);
  expect(results).toHaveLength(16);
  expect(results.map(({ bound }) => bound).filter((bound) => bound === 'at most')).toHaveLength(2);
  expect(results.map(({ bound }) => bound).filter((bound) => bound === 'above')).toHaveLength(1);
  for (const result of results) {
    expect(result.value).toBeGreaterThan(0);
    expect(run.stdout).toContain(result.name);
  }
  expect(readdirSync(folder)).toEqual(['report.json']);
});

describe('the target of 5 ms', () => {
  const judged = (name: string, latencies: readonly number[]): boolean[] =>
    judgeLatency(new Map([[name, latencies]])).map(({ met }) => met);

  test('is held against the median on pg, and not against the slowest callbacks', () => {
    expect(judged('pg, two processes', [5, 5, 900])).toEqual([true, true]);
    expect(judged('pg, two processes', [5, 5.1, 5.1])).toEqual([false, true]);
  });

  test('must be missed by the control, which does not listen', () => {
    expect(judged('pg, not listening, two processes', [5, 500, 900])).toEqual([true, true]);
    expect(judged('pg, not listening, two processes', [5, 5, 900])).toEqual([false, true]);
  });

  test('is not held against others', () => {
    expect(judged('graphile-worker, two processes', [6, 6, 6])).toEqual([true, true]);
  });

  test('is not met by what was not measured', () => {
    expect(() => judged('pg, two processes', [])).toThrow('Not measured: pg, two processes');
  });
});
