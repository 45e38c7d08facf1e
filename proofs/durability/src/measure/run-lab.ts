import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Report } from '../../src/measure/program.ts';
import type { Result } from '../../src/measure/results.ts';

/** A run of `pnpm lab`. */
export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const LAB = join(import.meta.dirname, '..', '..', '..', 'lab.ts');

export function runLab(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Run {
  return spawnSync(process.execPath, [LAB, ...args], { encoding: 'utf8', env });
}

/**
 * Runs a program that must succeed: no checked target missed, every result printed, and nothing left behind.
 *
 * @returns its report.
 */
export function reportOf<R extends Report>(
  name: string,
  ...args: readonly string[]
): R & { readonly output: string } {
  const folder = mkdtempSync(join(tmpdir(), 'payment-service-laboratory-test-'));
  // A server that root starts runs as another user, who must be able to reach it.
  chmodSync(folder, 0o755);
  const path = join(folder, 'report.json');
  const { status, stdout, stderr } = runLab([name, ...args, '--report', path], {
    ...process.env,
    TMPDIR: folder,
  });
  const output = stdout + stderr;
  expect(status, output).toBe(0);
  const report = JSON.parse(readFileSync(path, 'utf8')) as R;
  expect(report.name.startsWith(name.replace(':', '-'))).toBe(true);
  expect(new Date(report.date).toISOString()).toBe(report.date);
  const rows = report.tables.flatMap((table) => table.rows.flatMap(([name = '']) => name));
  for (const name of [...report.results.map((result) => result.name), ...rows])
    expect(stdout).toContain(name);
  if (!report.isShort)
    expect(
      report.results.filter(({ met }) => !met),
      output,
    ).toEqual([]);
  expect(readdirSync(folder)).toEqual(['report.json']);
  rmSync(folder, { recursive: true });
  return { ...report, output };
}

export function figureOf(
  { results }: { readonly results: readonly Result[] },
  name: string,
): number | undefined {
  return results.find((result) => result.name === name)?.value;
}
