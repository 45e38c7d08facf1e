import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

interface Report {
  readonly name: string;
  readonly date: string;
  readonly results: readonly { readonly name: string; readonly value: number }[];
  readonly measurements: readonly {
    readonly stage: string;
    readonly processes: number;
    readonly perSecond: { readonly median: number };
    readonly programsMs: { readonly median: number };
  }[];
}

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-scaling-test-'));
// A server of root's runs as a user of its own, who has to reach it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

test('a short run measures intake and drain with each number of processes, and leaves nothing behind', () => {
  const path = join(folder, 'report.json');
  const program = join(import.meta.dirname, '..', 'src', 'scaling', 'bench-scaling.ts');
  const run = spawnSync(process.execPath, [program, '--short', '--report', path], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
  expect(run.status, run.stdout + run.stderr).toBe(0);
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  expect(report.name).toBe('bench-scaling');
  expect(new Date(report.date).toISOString()).toBe(report.date);
  expect(report.measurements.map(({ stage, processes }) => `${stage} ${processes}`)).toEqual([
    'intake 1',
    'intake 2',
    'intake 4',
    'drain 1',
    'drain 2',
    'drain 4',
  ]);
  for (const { perSecond, programsMs } of report.measurements) {
    expect(perSecond.median).toBeGreaterThan(0);
    expect(programsMs.median).toBeGreaterThan(0);
  }
  expect(report.results).toHaveLength(4);
  expect(readdirSync(folder)).toEqual(['report.json']);
});
