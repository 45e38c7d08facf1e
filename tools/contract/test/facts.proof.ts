import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { plantFaults } from './planted-faults.ts';

const contractFile = fileURLToPath(import.meta.resolve('@payment-service/openapi/payment-service.yaml'));

test('the types or the facts of every contract with one change differ', async () => {
  const { planted, survivors } = await plantFaults(parse(readFileSync(contractFile, 'utf8')));
  expect(planted).toBeGreaterThan(500);
  expect(survivors).toEqual([]);
});
