import { expect } from 'vitest';
import type { Finding } from '../../src/reporting/finding.ts';
import { runCommand } from './command.ts';

export interface Diagnosed {
  readonly code: number;
  /** The level and subject of each finding, such as `problem worker`. */
  readonly names: readonly string[];
  /** Of the first finding. */
  readonly seen: string;
  readonly todo: string;
  /** Everything that was printed. */
  readonly text: string;
}

/** Runs doctor, and checks what applies to every diagnosis: the exit code, and that each finding has all three parts. */
export async function runDoctor(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Diagnosed> {
  const { code, stdout, stderr } = await runCommand(['doctor', '--json', ...args], env);
  expect(stderr).toBe('');
  const { ok, findings }: { ok: boolean; findings: Finding[] } = JSON.parse(stdout);
  expect(ok).toBe(findings.every(({ level }) => level === 'notice'));
  expect(code).toBe(ok ? 0 : 3);
  for (const { seen, why, todo } of findings) {
    expect(seen).not.toBe('');
    for (const each of [why, todo]) expect(each).toMatch(/^[A-Z].{8,}\.$/);
  }
  const names = findings.map(({ level, check }) => `${level} ${check}`);
  const { seen = '', todo = '' } = findings[0] ?? {};
  return { code, names, seen, todo, text: stdout };
}
