/** A bundle is one file: with the program of the thread, in which every callback of sqlite() is stored. */
import { join } from 'node:path';
import { build, type UserConfig } from 'tsdown';
import { expect, test } from 'vitest';
import config from '../../tsdown.config.ts';
import { startChild } from '../support/child-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Runs the program, bundled with everything that it imports, in a folder with nothing else. */
async function runBundle(format: 'esm' | 'cjs', plugins: UserConfig['plugins']) {
  const folder = temporaryFolder();
  await build({
    ...{ config: false, entry: { bundled: 'test/support/programs/bundled.ts' }, outDir: folder, format },
    ...{ platform: 'node', dts: false, clean: false, logLevel: 'silent', fixedExtension: true, plugins },
    deps: { alwaysBundle: [/./] },
  });
  const bundle = join(folder, format === 'esm' ? 'bundled.mjs' : 'bundled.cjs');
  return (await startChild(bundle, [join(folder, 'x.db')]).ended).output;
}

// As in the package itself, with the SQL and the program in the file.
const { plugins } = config[0] ?? {};

test.each(['esm', 'cjs'] as const)('in a %s bundle, sqlite() stores a callback', async (format) => {
  expect(await runBundle(format, plugins)).toBe('ready ok\nreceive ok\nhealth \n');
});

test('in a bundle without the program of the thread, ready() and health() fail (control)', async () => {
  const isOther = (plugin: unknown): boolean => Object(plugin).name !== 'embedded-thread';
  const output = await runBundle('esm', [plugins].flat().filter(isOther) as UserConfig['plugins']);
  expect(output).toMatch(/^ready SqliteError: The SQLite thread cannot answer: .*sqlite-thread/m);
  expect(output).toMatch(/^health .*store_unavailable/m);
});
