import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '@payment-service/durability';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FRAMEWORKS, WAYS } from '../src/http.ts';
import { VERIFY_TARGETS } from '../src/verify.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a short run of all parts, with every package packed as it is published', () => {
  let output = '';
  let report: Report;

  beforeAll(() => {
    const path = join(folder, 'reports', 'bench.json');
    const program = join(import.meta.dirname, '..', 'src', 'bench.ts');
    const run = spawnSync(process.execPath, [program, '--short', '--report', path], { encoding: 'utf8' });
    output = run.stdout;
    expect({ status: run.status, stderr: run.status === 0 ? '' : run.stderr }).toEqual({
      status: 0,
      stderr: '',
    });
    report = JSON.parse(readFileSync(path, 'utf8'));
  });

  /** The names of the rows of the first table whose title starts with the given text. */
  function rowsOf(title: string): readonly string[] {
    const table = report.tables.find((one) => one.title.startsWith(title));
    return table?.rows.map(([name = '']) => name) ?? [];
  }

  test('the report has a name, a date and a verdict for every target', () => {
    expect(report.name).toBe('bench');
    expect(new Date(report.date).toISOString()).toBe(report.date);
    expect(report.isShort).toBe(true);
    for (const { value, bound, target: wanted, met } of report.results) {
      const target = Number(wanted);
      expect(target).toBeGreaterThan(0);
      // JSON has null for NaN.
      expect(met).toBe(value !== null && (bound === 'at most' ? value <= target : value >= target));
    }
    const count = (part: string): number => report.results.filter(({ name }) => name.startsWith(part)).length;
    expect({
      verify: count('verify: '),
      http: count('http: '),
      all: report.results.length,
    }).toEqual({
      verify: VERIFY_TARGETS.length,
      http: FRAMEWORKS.length * 2,
      all: VERIFY_TARGETS.length + FRAMEWORKS.length * 2,
    });
  });

  test('core is measured with both of its digests, compared with its peers', () => {
    const table = report.tables.find(({ title }) => title.startsWith('Verification of a typical body'));
    expect(table?.rows.map(([name]) => name)).toEqual([
      'floor',
      'core',
      'stripe',
      'portable',
      'standardwebhooks',
    ]);
    expect(table?.rows.find(([name]) => name === 'core')?.at(-1)).toContain('node:crypto');
    expect(table?.rows.find(([name]) => name === 'portable')?.at(-1)).toContain('@noble/hashes');
  });

  test('every framework is measured bare, with a check by hand, at the limit and with its adapter', () => {
    const names = FRAMEWORKS.flatMap((framework) => WAYS.map((way) => `${framework}, ${way}`));
    expect(rowsOf('HTTP')).toEqual(names);
  });

  test('the output shows every row of the report', () => {
    const lines = output.split('\n').map((line) => line.trim());
    const names = [
      ...report.results.map(({ name }) => name),
      ...report.tables.flatMap(({ rows }) => rows.map(([name]) => name)),
    ];
    for (const name of names) expect(lines.some((line) => line.startsWith(`${name} `))).toBe(true);
  });
});

test('refuses a part that does not exist', () => {
  const program = join(import.meta.dirname, '..', 'src', 'bench.ts');
  const run = spawnSync(process.execPath, [program, 'speed', '--short'], { encoding: 'utf8' });
  expect(run.status).toBe(2);
  expect(run.stderr).toContain('There is no part "speed": choose from verify, http.');
});
