/** The generated files are those of the contracts. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { exampleTypes, generatedTypes } from '../generate.ts';

const read = (path: string): Promise<string> =>
  readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
const generated = await read('packages/core/src/generated/payment-service.ts');
const contract = await read('openapi/payment-service.yaml');

test("core's types match the contract", async () => {
  expect(generated, 'run `pnpm generate`').toBe(await generatedTypes(parse(contract)));
});

test('control: a changed contract has other types', async () => {
  const changed = contract.replace('bank_name: { type: string', 'bank_name: { type: number');
  expect(changed).not.toBe(contract);
  expect(await generatedTypes(parse(changed))).not.toBe(generated);
});

test('the types in apps/examples are those that openapi-typescript makes of the contract beside them', async () => {
  expect(await read('apps/examples/own-contract.ts'), 'run `pnpm generate`').toBe(await exampleTypes());
});
