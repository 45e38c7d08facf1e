import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp, type Report } from '@payment-service/durability/measure/program.ts';
import { figureOf, reportOf, runLab } from '@payment-service/durability/measure/run-lab.ts';
import { afterAll, expect, test, vi } from 'vitest';
import { runFuzz } from '../src/run-fuzz.ts';
import {
  expectedVerdict,
  fromVector,
  type NamedVector,
  secondVerdict,
  subject,
  subjects,
} from '../src/subject.ts';
import { wrongVectors } from '../src/vectors-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-fuzz-test-'));
afterAll(async () => {
  await cleanUp();
  rmSync(folder, { recursive: true });
});

/** `pnpm proofs` judges 10 million while the tests run: tools/test.ts. */
const COUNT = 100_000;

test('core and the second verifiers agree on 100,000 callbacks and redirects, and every naive verifier is caught', () => {
  const report = reportOf<Report>('fuzz', '--count', String(COUNT));
  expect(figureOf(report, 'inputs')).toBeGreaterThanOrEqual(COUNT);
  for (const fault of ['false accepts', 'false refusals', 'naive verifiers that were not caught'])
    expect(figureOf(report, fault), fault).toBe(0);
});

test('core and both second verifiers return the verdict of every signature vector', () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined); // One vector has a short key.
  const openapi = join(import.meta.dirname, '../../../openapi/signature-vectors.json');
  const vectors: NamedVector[] = JSON.parse(readFileSync(openapi, 'utf8')).vectors;
  expect(vectors.length).toBeGreaterThan(900);
  expect(wrongVectors()).toEqual([]);
  for (const vector of vectors) {
    const wanted = expectedVerdict(vector);
    // Not every vector names its key.
    const keyId = 'keyId' in wanted && wanted.keyId === '' ? { keyId: expect.any(String) } : {};
    const verdict = secondVerdict(subject(vector.options), fromVector(vector));
    expect({ ...verdict, or: undefined }, vector.name).toEqual({ ...wanted, ...keyId, or: undefined });
  }
  const { status, stdout } = spawnSync('python3', ['second_verifier.py', '--vectors'], { encoding: 'utf8' });
  if (status !== null) expect(stdout).toBe(`${vectors.length} vectors, 0 differences\n`);
});

test('a verifier that accepts white space in the header is reported with a small vector that shows it', async () => {
  const lenient = subjects().map((one) => ({
    ...one,
    core: (input: Parameters<typeof one.core>[0]) =>
      one.core(
        input.channel === 'callback' && typeof input.signature === 'string'
          ? { ...input, signature: input.signature.replaceAll(' ', '') }
          : input,
      ),
  }));
  const run = { seed: 1, count: 1, until: Number.POSITIVE_INFINITY, state: undefined };
  const { counts, failures } = await runFuzz(lenient, run);
  expect(counts.faults['false accepts']).toBeGreaterThan(0);
  const [failure = ''] = failures;
  expect(JSON.parse(failure)).toMatchObject({
    fault: 'false accepts',
    vector: { signature: expect.stringContaining(' ') },
  });
  expect(failure.length).toBeLessThan(800);
  const path = join(folder, 'failure.json');
  writeFileSync(path, failure);
  expect(runLab(['fuzz', '--replay', path]).stdout).toContain('core agrees');
});

test('a stopped run resumes from its state file and reaches the counts of an uninterrupted one', async () => {
  const all = subjects();
  const state = join(folder, 'state.json');
  const run = { seed: 7, until: Number.POSITIVE_INFINITY };
  const first = await runFuzz(all, { ...run, count: 1, state });
  const continued = await runFuzz(all, { ...run, count: 30_000, state });
  const whole = await runFuzz(all, { ...run, count: 30_000, state: undefined });
  expect(first.counts.inputs).toBeLessThan(continued.counts.inputs);
  expect(continued.counts).toEqual(whole.counts);
  await expect(runFuzz(all, { ...run, seed: 8, count: 1, state })).rejects.toThrow('--seed 7');
});
