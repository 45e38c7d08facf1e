import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

interface Report {
  readonly name: string;
  readonly pace: { readonly generated: number };
  readonly results: readonly {
    readonly name: string;
    readonly value: number;
    readonly target: number | null;
  }[];
}

const folder = mkdtempSync(join(tmpdir(), 'payment-service-bench-scale-test-'));
// A server of root's runs as a user of its own, who has to reach it.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

test('a short run makes payments in SQL, finds and counts them through the inbox, and leaves nothing behind', () => {
  const path = join(folder, 'report.json');
  const program = join(import.meta.dirname, '..', 'src', 'scale', 'bench-scale.ts');
  const run = spawnSync(process.execPath, [program, '--short', '--report', path], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
  expect(run.status, run.stdout + run.stderr).toBe(0);
  const report = JSON.parse(readFileSync(path, 'utf8')) as Report;
  expect(report).toMatchObject({ name: 'bench-scale', pace: { generated: 5000 } });
  for (const { value } of report.results) expect(value).toBeGreaterThan(0);
  const names = report.results.filter(({ target }) => target === 50).map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['list()', "list({ state: 'settled' })", 'stats()', 'health()']),
  );
  expect(readdirSync(folder)).toEqual(['report.json']);
});
