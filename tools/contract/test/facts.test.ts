/** Each fact that the service shows is a test, and faults that are planted in the contract are found. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { contractFaults } from './contract-faults.ts';
import { factsOf } from './facts.ts';
import { plantFaults } from './planted-faults.ts';

const contractFile = fileURLToPath(import.meta.resolve('@payment-service/openapi/payment-service.yaml'));
const contract = parse(readFileSync(contractFile, 'utf8'));

test.each(factsOf(contract))('%s', (_title, check) => {
  check();
});

// All faults are planted. Of those that no fact refuses, each run generates the types of others; facts.proof.ts those of all.
test('the types or the facts of a contract with one change differ', async () => {
  const { planted, survivors } = await plantFaults(contract, 40, Date.now() % 40);
  expect(planted).toBeGreaterThan(500);
  expect(survivors).toEqual([]);
});

test('control: every fact of a contract is changed and removed once, and prose is not', () => {
  const small = {
    info: { title: 'prose' },
    paths: {
      '/a': { get: { description: 'prose', parameters: [{ name: 'b', in: 'query', required: true }] } },
    },
    components: { schemas: { A: { type: 'boolean', 'x-known-values': ['x'] } } },
  };
  const faults = [...contractFaults(small)].map(({ code }) => code);
  const ofSchema = faults.filter((code) => code.startsWith('/components/schemas/A'));
  expect(ofSchema.map((code) => code.slice('/components/schemas/A'.length))).toEqual([
    ...[': removed', ': renamed', ': closed by const', '/type: removed'],
    ...['string', 'number', 'integer', 'array', 'object'].map((type) => `/type: boolean becomes ${type}`),
    ...['/type: may be null', '/x-known-values: removed', '/x-known-values: another value'],
    ...['/x-known-values/0: removed', '/x-known-values/0: x becomes x_2'],
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
