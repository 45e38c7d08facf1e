import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleCallback } from '@payment-service/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callbackBodies, SIZES } from '../src/callback-bodies.ts';
import type { Result } from '../src/judge.ts';
import type { Measurement } from '../src/summarise.ts';
import { TARGETS } from '../src/targets.ts';

interface Report {
  readonly name: string;
  readonly date: string;
  readonly isShort: boolean;
  readonly results: readonly Result[];
  readonly measurements: readonly Measurement[];
}

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a short run, with core packed as it is published', () => {
  let output = '';
  let report: Report;

  beforeAll(() => {
    const path = join(folder, 'reports', 'bench.json');
    const program = join(import.meta.dirname, '..', 'src', 'bench.ts');
    const run = spawnSync(process.execPath, [program, '--short', '--report', path], { encoding: 'utf8' });
    output = run.stdout;
    expect(run.stderr).toBe('');
    expect(run.status).toBe(0);
    report = JSON.parse(readFileSync(path, 'utf8'));
  });

  test('the report has a name, a date and one result for every target', () => {
    expect(report.name).toBe('bench');
    expect(new Date(report.date).toISOString()).toBe(report.date);
    expect(report.isShort).toBe(true);
    expect(report.results).toHaveLength(TARGETS.length);
    for (const { name, value, unit, target, met } of report.results) {
      expect(name).toMatch(/ body: \S+ over \S+$/);
      expect(value).toBeGreaterThan(0);
      expect(unit).toBe('ratio');
      expect(target).toBeGreaterThan(0);
      expect(met).toBe(value <= target);
    }
  });

  test('every contender was measured, core on both of its digests', () => {
    const typical = report.measurements.filter(({ size }) => size === 'typical');
    expect(typical.map(({ contender }) => contender).sort()).toEqual([
      'core',
      'floor',
      'octokit',
      'portable',
      'recipe',
      'standardwebhooks',
      'stripe',
      'svix',
    ]);
    expect(typical.find(({ contender }) => contender === 'core')?.call).toContain('node:crypto');
    expect(typical.find(({ contender }) => contender === 'portable')?.call).toContain('@noble/hashes');
    expect([...new Set(report.measurements.map(({ size }) => size))]).toEqual(SIZES);
    for (const { overFloor } of report.measurements) {
      expect(overFloor.p10).toBeLessThanOrEqual(overFloor.median);
      expect(overFloor.median).toBeLessThanOrEqual(overFloor.p90);
    }
  });

  test('the tables show every row of the report', () => {
    const lines = output.split('\n').map((line) => line.trim());
    for (const { contender, call } of report.measurements)
      expect(lines.some((line) => line.startsWith(`${contender} `) && line.endsWith(call))).toBe(true);
    for (const { name } of report.results)
      expect(lines.some((line) => line.startsWith(`${name} `))).toBe(true);
  });
});

describe('the bodies', () => {
  test.each([
    ['small', 100, 300],
    ['typical', 400, 800],
    ['60 KiB', 61_440, 61_440],
  ] as const)('%s: equally long, each with its own reference', (size, least, most) => {
    const bodies = callbackBodies(size, { sampleCallback });
    const [length = 0, ...others] = new Set(bodies.map((body) => body.length));
    expect(others).toEqual([]);
    expect(length).toBeGreaterThanOrEqual(least);
    expect(length).toBeLessThanOrEqual(most);
    const references = bodies.map((body) => JSON.parse(String(body)).payload.merchant_reference);
    expect(new Set(references).size).toBe(64);
  });
});
