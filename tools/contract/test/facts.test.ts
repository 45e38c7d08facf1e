/** Each fact that the service shows is a test, and every fault that is planted in the contract is found. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { generatedTypes } from '../generate.ts';
import { contractFaults } from './contract-faults.ts';
import { factsOf } from './facts.ts';

const contractFile = fileURLToPath(import.meta.resolve('@payment-service/openapi/payment-service.yaml'));
const contract = parse(readFileSync(contractFile, 'utf8'));

test.each(factsOf(contract))('%s', (_title, check) => {
  check();
});

/** Whether a check of the facts fails. */
function isRefused(changed: unknown): boolean {
  try {
    for (const [, check] of factsOf(changed)) check();
    return false;
  } catch {
    return true;
  }
}

test('the types or the facts of every contract with one change differ', async () => {
  const types = await generatedTypes(structuredClone(contract));
  const survivors: string[] = [];
  let planted = 0;
  for (const { code, contract: changed } of contractFaults(contract)) {
    planted += 1;
    if (isRefused(structuredClone(changed))) continue;
    const changedTypes = await generatedTypes(structuredClone(changed) as typeof contract).catch(() => '');
    if (changedTypes === types) survivors.push(code);
  }
  expect(planted).toBeGreaterThan(500);
  expect(survivors).toEqual([]);
}, 300_000);

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
