import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Result } from '../src/judge.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-failover-test-test-'));
// A server of root's runs as a user of its own, who has to reach it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

test('nothing acknowledged is lost or applied twice after a failover, and the control loses', () => {
  const path = join(folder, 'report.json');
  const { status, stdout, stderr } = start(['--rounds', '1', '--control-rounds', '1', '--report', path]);
  expect([0, 1], stdout + stderr).toContain(status);
  const report = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly name: string;
    readonly date: string;
    readonly results: readonly Result[];
  };
  const value = (name: string): number | undefined =>
    report.results.find((result) => result.name === name)?.value;
  expect(
    report.results.filter(({ met }) => !met),
    stdout + stderr,
  ).toEqual([]);
  expect(status).toBe(0);
  expect(report.name).toBe('failover-test');
  expect(new Date(report.date).toISOString()).toBe(report.date);
  expect(value('applied exactly once')).toBeGreaterThan(150);
  expect(value('control, asynchronous: acknowledged and lost')).toBeGreaterThan(0);
  expect(stdout).toContain('with an asynchronous standby, a failover loses what was acknowledged');
  // What a run has written is gone afterwards.
  expect(readdirSync(folder)).toEqual(['report.json']);
});

test('without a number of rounds it says how it is used', () => {
  for (const args of [
    ['--rounds', '0'],
    ['--control-rounds', 'none'],
  ]) {
    const { status, stderr } = start(args);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^Usage: failover-test /);
  }
});

/** With a temporary folder of its own, so that what is left in it shows. */
function start(args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const program = join(import.meta.dirname, '..', 'src', 'failover-test.ts');
  return spawnSync(process.execPath, [program, ...args], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
}
