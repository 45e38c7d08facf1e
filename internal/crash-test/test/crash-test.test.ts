import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Result } from '../src/judge.ts';

interface Report {
  readonly name: string;
  readonly date: string;
  readonly results: readonly Result[];
}

const folder = mkdtempSync(join(tmpdir(), 'payment-service-crash-test-test-'));
// A server of root's runs as a user of its own, who has to reach it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

/** Aims most kills at a handler or its commit: few random ones can all miss them. */
const SEED = '100';

describe.each(['postgres', 'sqlite'])('%s', (store) => {
  test('after 16 kills, what was acknowledged is stored, and each payment is applied exactly once', () => {
    const { status, report, output } = crashTest('--store', store, '--kills', '16', '--transitions', '600');
    expect(missed(report), output).toEqual([]);
    expect(status).toBe(0);
    expect(report.name).toBe(`crash-test-${store}`);
    expect(new Date(report.date).toISOString()).toBe(report.date);
    expect(counted(report, 'kills')).toBe(16);
    expect(counted(report, 'transitions')).toBeGreaterThanOrEqual(600);
    expect(counted(report, 'payments applied exactly once')).toBeGreaterThan(400);
    expect(counted(report, 'payments applied twice')).toBe(0);
  });
});

test('the control, whose effects commit before the transition is done, shows doubles', () => {
  const run = crashTest('--store', 'postgres', '--kills', '8', '--transitions', '300', '--control');
  expect(missed(run.report), run.output).toEqual([]);
  expect(run.status).toBe(0);
  expect(counted(run.report, 'payments applied twice by the control')).toBeGreaterThan(0);
});

test('what a run has written is gone afterwards', () => {
  expect(readdirSync(folder).filter((name) => !name.startsWith('report-'))).toEqual([]);
});

test('without a store or kills it says how it is used', () => {
  for (const args of [[], ['--store', 'mysql', '--kills', '1'], ['--store', 'sqlite', '--kills', 'many']]) {
    const { status, stderr } = start(args);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^Usage: crash-test --kills N --store postgres\|sqlite/);
  }
});

function crashTest(...args: string[]): { status: number | null; report: Report; output: string } {
  const path = join(folder, `report-${args.join('')}.json`);
  const { status, stdout, stderr } = start([...args, '--seed', SEED, '--report', path]);
  const output = stdout + stderr;
  if (status !== 0 && status !== 1) throw new Error(`The crash test did not come to its end:\n${output}`);
  return { status, report: JSON.parse(readFileSync(path, 'utf8')) as Report, output };
}

/** With a temporary folder of its own, so that what is left in it shows. */
function start(args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const program = join(import.meta.dirname, '..', 'src', 'crash-test.ts');
  return spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
}

function missed({ results }: Report): readonly Result[] {
  return results.filter(({ met }) => !met);
}

function counted({ results }: Report, name: string): number | undefined {
  return results.find((result) => result.name === name)?.value;
}
