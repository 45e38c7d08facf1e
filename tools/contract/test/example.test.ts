import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { exampleTypes } from '../generate.ts';

test('the types in apps/examples are those that openapi-typescript makes of the contract beside them', async () => {
  const file = new URL('../../../apps/examples/own-contract.ts', import.meta.url);
  expect(await readFile(file, 'utf8')).toBe(await exampleTypes());
});
