import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp, type Report } from '@payment-service/durability/measure/program.ts';
import { figureOf, reportOf } from '@payment-service/durability/measure/run-lab.ts';
import { afterAll, expect, test, vi } from 'vitest';
import { countBatch, type Failure, noCounts } from '../src/count.ts';
import { type Fuzzed, judgeFuzz } from '../src/fuzz.ts';
import { minimise } from '../src/minimise.ts';
import { subjects } from '../src/originals.ts';
import { compareWithPython } from '../src/python.ts';
import { runFuzz } from '../src/run-fuzz.ts';
import { NAMES } from '../src/second-verifier.ts';
import { faultOf, fromVector, secondVerdict, subject } from '../src/subject.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-fuzz-test-'));
afterAll(async () => {
  await cleanUp();
  rmSync(folder, { recursive: true });
});

/** `pnpm test` judges 10 million while the tests run: tools/test.ts. */
const COUNT = 100_000;

test('core and a second verifier agree on 100,000 callbacks and redirects, and every naive verifier is caught', {
  timeout: 1_200_000,
}, () => {
  vi.stubEnv('PATH', folder); // Python is not installed.
  const report = reportOf<Report & Fuzzed>('fuzz', '--count', String(COUNT));
  vi.unstubAllEnvs();
  expect(figureOf(report, 'inputs')).toBeGreaterThanOrEqual(COUNT);
  for (const fault of [
    'false accepts',
    'false refusals',
    'exceptions',
    'naive verifiers that were not caught',
  ])
    expect(figureOf(report, fault), fault).toBe(0);
  expect(figureOf(report, 'accepted, or one edit from it')).toBeGreaterThanOrEqual(30);
  expect(report.output).toContain('Node, the portable digest');

  const differences = 'differences between the two second verifiers';
  expect(report.output).toContain('Not compared with the verifier in Python: python3 is not installed.');
  expect(figureOf(report, differences)).toBeUndefined();
  const python = compareWithPython(subjects(), 1, 2000);
  if (typeof python === 'string') return;
  expect(python.inputs).toBeGreaterThanOrEqual(2000);
  expect(figureOf({ results: judgeFuzz({ ...report, python }) }, differences)).toBe(0);
});

test('the second verifier returns the verdict of every signature vector', () => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined); // One vector has a short key.
  const path = createRequire(import.meta.url).resolve('@payment-service/openapi/signature-vectors.json');
  const { vectors } = JSON.parse(readFileSync(path, 'utf8'));
  const wrong: string[] = [];
  for (const vector of vectors) {
    const { options, input } = fromVector(vector);
    const verdict = secondVerdict(subject(options), input);
    const { ok, code, authentic, signed, timestamp_unit, key_id } = vector.expect;
    const { keyId, ...found } = 'fields' in verdict ? verdict : { ...verdict, keyId: undefined };
    const wanted = ok
      ? { code: 'ok', fields: NAMES.map((name) => signed[name]), unit: timestamp_unit }
      : { code, authentic };
    const isSame = JSON.stringify({ ...found, or: undefined }) === JSON.stringify(wanted);
    if (!isSame || (key_id !== undefined && keyId !== key_id)) wrong.push(vector.name);
  }
  expect(vectors.length).toBeGreaterThan(900);
  expect(wrong).toEqual([]);
});

test('a verifier that accepts white space in the header is reported with the least input that shows it', () => {
  const lenient = subjects().map((one) => ({
    ...one,
    core: (input: Parameters<typeof one.core>[0]) =>
      one.core(
        input.channel === 'callback' && typeof input.signature === 'string'
          ? { ...input, signature: input.signature.replaceAll(' ', '') }
          : input,
      ),
  }));
  const counts = noCounts();
  const failures: Failure[] = [];
  for (let number = 0; failures.length === 0; number++)
    countBatch(lenient, 1, number, counts, (failure) => failures.push(failure));
  expect(counts.faults['false accept']).toBeGreaterThan(0);
  const [{ from, input, fault } = expect.unreachable()] = failures;
  const least = minimise(from.subject, input, fault);
  expect(faultOf(from.subject.core, least, secondVerdict(from.subject, least))).toBe(fault);
  expect(least).toMatchObject({ signature: expect.stringMatching(/^(?=.* )[^ ]* ?[^ ]*$/) });
});

test('a stopped run resumes from its state file and reaches the counts of an uninterrupted one', async () => {
  const all = subjects();
  const state = join(folder, 'state.json');
  const run = { seed: 7, until: Number.POSITIVE_INFINITY };
  await runFuzz(all, { ...run, count: 3000, state });
  const continued = await runFuzz(all, { ...run, count: 6000, state });
  const whole = await runFuzz(all, { ...run, count: 6000, state: undefined });
  expect(continued.counts).toEqual(whole.counts);
  await expect(runFuzz(all, { ...run, seed: 8, count: 1, state })).rejects.toThrow('--seed 7');
});
