import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '@payment-service/durability/measure/program.ts';
import { runLab } from '@payment-service/durability/measure/run-lab.ts';
import { afterAll, expect, test } from 'vitest';
import { contractFaults } from '../src/contract-faults.ts';
import { compareSurvivors, entryOf, explainedIn } from '../src/survivors.ts';

const folder = mkdtempSync(join(tmpdir(), 'payment-service-mutation-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('most faults of a sample in the reading of decimals are found, and none of those that no test reaches is', () => {
  const report = join(folder, 'report.json');
  // A survivor makes the run exit with 1, and the sample of faults changes with the code. Two small files and their tests,
  // since Stryker first runs all tests that judge.
  runLab(['mutation', 'amounts', '--file', 'decimal.ts', '--share', '0.03', '--report', report]);
  const { tables } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const [counts] = tables;
  const [decimals = [], control = []] = counts?.rows.map((row) => row.slice(1, 5).map(Number)) ?? [];
  const [planted = 0, found] = decimals;
  expect(planted).toBeGreaterThanOrEqual(2);
  expect(found).toBeGreaterThanOrEqual(planted * 0.75);
  const [reached = 0, ofControl, endless, survived] = control;
  expect(reached).toBeGreaterThan(0);
  expect([ofControl, endless, survived]).toEqual([0, 0, reached]);
});

const FAULT = { file: 'a.ts', line: 1, code: 'if («a → b») `', isFound: false, status: 'Survived' };

test('a survivor without an entry is a miss, and so is an entry whose fault is found or gone', () => {
  const written = explainedIn(`# Title\n\n${entryOf(FAULT)}\n`);
  expect(written).toEqual([{ file: 'a.ts', code: FAULT.code }]);
  expect(compareSurvivors([FAULT], written)).toEqual({ unexplained: [], outdated: [] });
  expect(compareSurvivors([FAULT], [])).toEqual({ unexplained: [FAULT], outdated: [] });
  const found = { ...FAULT, isFound: true, status: 'Killed' };
  expect(compareSurvivors([found], written)).toEqual({ unexplained: [], outdated: written });
  // Nothing is known about a file that was not tried.
  expect(compareSurvivors([{ ...found, file: 'b.ts' }], written)).toEqual({ unexplained: [], outdated: [] });
});

test('every fact of a contract is changed and removed once, and prose is not', () => {
  const contract = {
    info: { title: 'prose' },
    paths: {
      '/a': { get: { description: 'prose', parameters: [{ name: 'b', in: 'query', required: true }] } },
    },
    components: { schemas: { A: { type: 'boolean', 'x-known-values': ['x'] } } },
  };
  const faults = [...contractFaults(contract)].map(({ code }) => code);
  expect(faults.filter((code) => code.startsWith('/components/schemas/A'))).toEqual([
    '/components/schemas/A: removed',
    '/components/schemas/A: renamed',
    '/components/schemas/A: closed by const',
    '/components/schemas/A/type: removed',
    ...['string', 'number', 'integer', 'array', 'object'].map(
      (type) => `/components/schemas/A/type: boolean becomes ${type}`,
    ),
    '/components/schemas/A/type: may be null',
    '/components/schemas/A/x-known-values: removed',
    '/components/schemas/A/x-known-values: another value',
    '/components/schemas/A/x-known-values/0: removed',
    '/components/schemas/A/x-known-values/0: x becomes x_2',
  ]);
  const parameter = '/paths//a/get/parameters/0';
  for (const change of [
    '/name: b becomes b_2',
    '/in: query becomes header',
    '/required: negated',
    ': removed',
  ])
    expect(faults).toContain(`${parameter}${change}`);
  expect(faults.filter((code) => /info|description/.test(code))).toEqual([]);
  expect(new Set(faults).size).toBe(faults.length);
});
