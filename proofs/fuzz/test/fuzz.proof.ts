import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Report } from '@payment-service/durability/measure/program.ts';
import { figureOf, reportOf } from '@payment-service/durability/measure/run-lab.ts';
import { expect, test } from 'vitest';
import { runFuzz } from '../src/fuzz.ts';
import { core } from '../src/verifiers.ts';

/** `pnpm proofs` judges 10 million while the tests run: tools/test.ts. */
const COUNT = 20_000;

test('core and the second verifier agree on 20,000 callbacks and redirects, and every naive verifier is caught', () => {
  const report = reportOf<Report>('fuzz', '--count', String(COUNT));
  expect(figureOf(report, 'inputs')).toBeGreaterThanOrEqual(COUNT);
  for (const fault of ['false accepts', 'false refusals', 'naive verifiers that were not caught'])
    expect(figureOf(report, fault), fault).toBe(0);
});

test('the second verifier returns the verdict of every signature vector', () => {
  const program = join(import.meta.dirname, '../second_verifier.py');
  const { stdout } = spawnSync('python3', [program, '--vectors'], { encoding: 'utf8' });
  expect(stdout).toMatch(/^\d{3,} vectors, 0 differences\n$/);
});

test('a verifier that accepts white space in the header is reported with a small batch that shows it', async () => {
  const { faults, failures } = await runFuzz(1, 1, (options) => {
    const own = core(options);
    return ({ signature, ...input }) =>
      own({ ...input, signature: typeof signature === 'string' ? signature.replaceAll(' ', '') : signature });
  });
  expect(faults['false accepts']).toBeGreaterThan(0);
  const failure = failures.find((one) => one.includes('false accepts')) ?? '{}';
  expect(JSON.parse(failure)).toMatchObject({
    inputs: [{ signature: expect.stringContaining(' ') }],
    right: ['signature_malformed', false],
  });
  expect(failure.length).toBeLessThan(800);
});
