import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BENCHED, CONTENDERS } from '../src/contender.ts';
import type { Measurement, Result } from '../src/judge.ts';
import { TARGETS } from '../src/targets.ts';

interface Report {
  readonly name: string;
  readonly date: string;
  readonly isShort: boolean;
  readonly missing: readonly string[];
  readonly results: readonly Result[];
  readonly measurements: readonly Measurement[];
}

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-inbox-test-'));
// A server of root's runs as a user of its own, who has to reach it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

describe('a short run', () => {
  let output = '';
  let report: Report;

  beforeAll(() => {
    const path = join(folder, 'report.json');
    const program = join(import.meta.dirname, '..', 'src', 'bench-inbox.ts');
    const run = spawnSync(process.execPath, [program, '--short', '--report', path], {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: folder },
    });
    output = run.stdout;
    expect(run.status, run.stdout + run.stderr).toBe(0);
    report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  });

  test('the report has a name, a date and one result for every target', () => {
    expect(report.name).toBe('bench-inbox');
    expect(new Date(report.date).toISOString()).toBe(report.date);
    expect(report.isShort).toBe(true);
    expect(report.results).toHaveLength(TARGETS.length);
    for (const { value, target, met } of report.results) {
      expect(value).toBeGreaterThan(0);
      expect(met).toBe(value >= target);
    }
  });

  test('both stores, their floors and the queues were measured in both ways, or the row says why not', () => {
    const isThere = (name: string): boolean => name !== CONTENDERS.bullmq.name || report.missing.length === 0;
    const names = BENCHED.map((id) => CONTENDERS[id].name)
      .filter(isThere)
      .sort();
    for (const way of ['store', 'http']) {
      const measured = report.measurements.filter((one) => one.way === way);
      expect(measured.map(({ contender }) => contender).sort()).toEqual(names);
      for (const { perSecond, p50Ms, p99Ms } of measured) {
        expect(perSecond.median).toBeGreaterThan(0);
        expect(p50Ms.median).toBeLessThanOrEqual(p99Ms.median);
      }
    }
    for (const line of report.missing)
      expect(line).toMatch(/^bullmq: redis-server is not installed\. Install it/);
  });

  test('the tables show every row of the report', () => {
    const lines = output.split('\n').map((line) => line.trim());
    for (const { contender, call } of report.measurements)
      expect(lines.some((line) => line.startsWith(`${contender} `) && line.endsWith(call))).toBe(true);
    for (const { name } of report.results)
      expect(lines.some((line) => line.startsWith(`${name} `))).toBe(true);
    for (const missing of report.missing) expect(lines).toContain(missing);
  });

  test('what it has written is gone afterwards', () => {
    expect(readdirSync(folder)).toEqual(['report.json']);
  });
});
