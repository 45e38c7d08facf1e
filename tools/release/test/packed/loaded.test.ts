/** A program that only receives callbacks can load neither the client nor the explanations, and only its own entry loads zod (decision D12). */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@payment-service/release/toolchains';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const APART = /packages\/core\/src\/(?:(?:client|explain)\/.*|zod\.ts)/;

/** Which of these the sources of a package load, in any way, on Node and elsewhere. */
async function loadedBy(name: string): Promise<readonly string[]> {
  const input = globSync(`packages/${name}/src/**/*.ts`, { cwd: root }).map((path) => join(root, path));
  const external = (id: string): boolean => !/^(?:[/.#]|@payment-service\/)/.test(id);
  const found: string[] = [];
  for (const platform of ['node', 'browser'] as const) {
    const build = await rolldown({ input, platform, external, treeshake: false });
    for (const file of (await build.generate()).output)
      if (file.type === 'chunk') found.push(...file.moduleIds, ...file.imports, ...file.dynamicImports);
  }
  return found.flatMap((id) => APART.exec(id)?.[0] ?? []);
}

test.each(['express', 'fastify', 'koa', 'fetch', 'inbox'])('%s loads none of them', async (name) => {
  expect(await loadedBy(name)).toEqual([]);
});

test('control: the sandbox loads the explanations, and core itself all of them', async () => {
  const files = ['explain/index.ts', 'client/index.ts', 'zod.ts'].map((file) => `packages/core/src/${file}`);
  const loaded = await loadedBy('sandbox');
  expect(files.map((file) => loaded.includes(file))).toEqual([true, false, false]);
  expect(await loadedBy('core')).toEqual(expect.arrayContaining(files));
});
